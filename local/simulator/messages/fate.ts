import { shareOf } from '../protocol/count-table.ts';
import { listOf, objectOf } from '../protocol/json-value.ts';

/** Decides which statuses an accepted message gets. */
export type MessageFate =
  | {
      readonly kind: 'silent' | 'sent' | 'delivered' | 'read' | 'read_only' | 'backwards' | 'repeated';
    }
  | { readonly kind: 'failed'; readonly code: number };

export type StatusName = 'sent' | 'delivered' | 'read' | 'failed';

export interface FateStep {
  readonly status: StatusName;
  /** Delay in ms after the previous status. */
  readonly delayMs: number;
  readonly code: number | undefined;
}

export interface FateSettings {
  readonly sentDelayMs: number;
  readonly deliveredDelayMs: number;
  readonly readDelayMs: number;
  /** Share of the delivered messages that are read. */
  readonly readRate: number;
  /** Share of the messages that fail after their acceptance. */
  readonly failedRate: number;
  /** Share that stays at `sent`. */
  readonly undeliveredRate: number;
  readonly failedCodes: readonly number[];
}

export const defaultFateSettings: FateSettings = {
  sentDelayMs: 300,
  deliveredDelayMs: 900,
  readDelayMs: 3000,
  readRate: 0.6,
  failedRate: 0.01,
  undeliveredRate: 0.02,
  failedCodes: [131026, 131049, 130472],
};

export function readFateSettings(input: unknown, present: FateSettings): FateSettings {
  const given = objectOf(input);
  const amount = (name: keyof FateSettings): number => Number(given[name] ?? present[name]);
  const codes = listOf(given['failedCodes']).map(Number);
  return {
    sentDelayMs: amount('sentDelayMs'),
    deliveredDelayMs: amount('deliveredDelayMs'),
    readDelayMs: amount('readDelayMs'),
    readRate: amount('readRate'),
    failedRate: amount('failedRate'),
    undeliveredRate: amount('undeliveredRate'),
    failedCodes: codes.length > 0 ? codes : present.failedCodes,
  };
}

/** Depends on the number only, so that a recipient's messages end the same way in every run. */
export function fateOf(to: string, settings: FateSettings): MessageFate {
  const share = shareOf(to);
  const { failedRate, undeliveredRate, readRate, failedCodes } = settings;
  if (share < failedRate) {
    const code = failedCodes[Math.floor((share / failedRate) * failedCodes.length)] ?? 131026;
    return { kind: 'failed', code };
  }
  if (share < failedRate + undeliveredRate) return { kind: 'sent' };
  const rest = (share - failedRate - undeliveredRate) / (1 - failedRate - undeliveredRate);
  return { kind: rest < readRate ? 'read' : 'delivered' };
}

/** The statuses in the order in which they are sent. */
export function stepsOf(fate: MessageFate, settings: FateSettings): readonly FateStep[] {
  const sent = step('sent', settings.sentDelayMs);
  const delivered = step('delivered', settings.deliveredDelayMs);
  const read = step('read', settings.readDelayMs);
  switch (fate.kind) {
    case 'silent':
      return [];
    case 'sent':
      return [sent];
    case 'delivered':
      return [sent, delivered];
    case 'read':
      return [sent, delivered, read];
    case 'read_only':
      return [sent, read];
    case 'backwards':
      return [step('read', settings.sentDelayMs), step('delivered', 100), step('sent', 100)];
    case 'repeated':
      return [sent, sent, delivered, delivered, read, read];
    case 'failed':
      return [{ status: 'failed', delayMs: settings.sentDelayMs, code: fate.code }];
  }
}

function step(status: StatusName, delayMs: number): FateStep {
  return { status, delayMs, code: undefined };
}
