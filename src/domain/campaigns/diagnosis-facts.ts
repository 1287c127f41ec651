/** What a diagnosis is made of: the facts that it is judged by, and its entries. Io-ts-free and Node-free. */
import type { SendingWindow } from './sending-window.ts';
import type { CampaignStatus, PauseReason, PreparationStatus, WaitingReason } from './campaign.ts';

export const diagnosisChecks = [
  'STATUS',
  'PREPARATION',
  'SCHEDULE',
  'SENDING_WINDOW',
  'QUOTA',
  'TEMPLATE',
  'CHANNEL',
  'PACE',
  'WALLET',
  'WORKER',
] as const;

export interface DiagnosisEntry {
  readonly check: (typeof diagnosisChecks)[number];
  /** It does not stand in the way of sending. */
  readonly ok: boolean;
  readonly detail: string;
  /** What would change it; null where there is nothing to do. */
  readonly action: string | null;
  /** What the wallet lacks to send to all who wait, in its currency; an estimate where the sentence says so. */
  readonly missing?: string;
}

/** What the sentence of the status is made of; every report of a campaign tells it. */
export interface StatusFacts {
  readonly status: CampaignStatus;
  readonly pauseReason: PauseReason | null;
  readonly preparationError: string | null;
  /** Recipients that are to be sent to, whatever became of them. */
  readonly total: number;
  readonly pending: number;
  readonly underWay: number;
  readonly failed: number;
}

export interface CampaignFacts extends StatusFacts {
  readonly preparationStatus: PreparationStatus;
  readonly createdAt: Date;
  readonly scheduledAt: Date | null;
  /** All of these must be open. */
  readonly windows: readonly SendingWindow[];
  readonly template: { readonly name: string; readonly status: string; readonly vanished: boolean };
  readonly channel: {
    readonly isActive: boolean;
    readonly blockReason: string | null;
    readonly messagesPerSecond: number;
    /** What throttling leaves of the rate, 0 to 1. */
    readonly factor: number;
  };
  /** What the record says it waits for, and until when. */
  readonly waitingFor: WaitingReason | null;
  readonly waitingUntil: Date | null;
  readonly wallet: {
    readonly available: bigint;
    readonly currency: string;
    /** Of the next message; null when nobody waits. */
    readonly nextPrice: bigint | null;
    /** Of all that wait; an estimate unless `isExact`. */
    readonly remainingCost: bigint;
    readonly isExact: boolean;
  };
  /** `limit` null: none. */
  readonly broadcasts: { readonly used: number; readonly limit: number | null; readonly counted: boolean };
  /** Since when an order to the workflow has not been taken; null when none waits. */
  readonly orderedAt: Date | null;
  readonly now: Date;
}

export const fine = (check: DiagnosisEntry['check'], detail: string): DiagnosisEntry => ({
  check,
  ok: true,
  detail,
  action: null,
});
export const wrong = (
  check: DiagnosisEntry['check'],
  detail: string,
  action: string | null = null,
): DiagnosisEntry => ({ check, ok: false, detail, action });
