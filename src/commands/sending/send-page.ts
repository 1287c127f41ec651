/** Sends a claimed page at the channel's pace and records what came of it as it comes. */
import type { SendResult } from '../../provider/provider.ts';
import type { ClaimedRecipient } from '../../records/claims.ts';
import type { MessageOutcome } from '../../records/page-results.ts';
import { judge, type Verdict } from './message-outcome.ts';
import type { Pacer } from './pacer.ts';

export interface PageSender {
  readonly pacer: Pacer;
  /** At most this many requests of the step are on the wire. */
  readonly gate: Gate;
  readonly send: (recipient: ClaimedRecipient) => Promise<SendResult>;
  /** The rest of the page must not leave any more. */
  readonly stopped: () => boolean;
  readonly onVerdict: (verdict: Verdict, recipient: ClaimedRecipient) => void;
  /** Writes outcomes; `final` when the page has no more of them. */
  readonly record: (outcomes: ReadonlyMap<number, MessageOutcome>, final: boolean) => Promise<void>;
}

const unsent: MessageOutcome = { kind: 'released', delayMs: 0, attempted: false };

// A slow answer must not keep the others' results out of the records for long.
const flushEveryMs = 1_000;

/**
 * `dispatched` resolves when no message of the page will leave any more, `recorded` when every outcome is written.
 */
export function sendPage(
  sender: PageSender,
  recipients: readonly ClaimedRecipient[],
): { readonly dispatched: Promise<void>; readonly recorded: Promise<void> } {
  let outcomes = new Map<number, MessageOutcome>();
  let onWire = 0;
  let allLeft = false;
  let wake = (): void => undefined;

  const settle = (recipient: ClaimedRecipient, result: SendResult): void => {
    const verdict = judge(result, recipient.attempts);
    outcomes.set(recipient.position, verdict.outcome);
    onWire -= 1;
    sender.gate.leave();
    sender.onVerdict(verdict, recipient);
    if (allLeft && onWire === 0) wake();
  };

  const dispatch = async (): Promise<void> => {
    let next = 0;
    while (next < recipients.length && !sender.stopped()) {
      const places = await sender.gate.enter(recipients.length - next);
      const tokens = sender.stopped() ? 0 : await sender.pacer.take(places, recipients.length - next);
      // The wait for tokens may have been long.
      const leaving = sender.stopped() ? 0 : tokens;
      for (let unused = leaving; unused < places; unused += 1) sender.gate.leave();
      for (const recipient of recipients.slice(next, next + leaving)) {
        onWire += 1;
        void sender.send(recipient).then((result) => settle(recipient, result));
      }
      next += leaving;
    }
    for (const recipient of recipients.slice(next)) outcomes.set(recipient.position, unsent);
    allLeft = true;
    if (onWire === 0) wake();
  };

  const record = async (): Promise<void> => {
    for (;;) {
      if (!(allLeft && onWire === 0)) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          setTimeout(resolve, flushEveryMs);
        });
      }
      const final = allLeft && onWire === 0;
      const written = outcomes;
      outcomes = new Map();
      if (written.size > 0 || final) await sender.record(written, final);
      if (final) return;
    }
  };

  return { dispatched: dispatch(), recorded: record() };
}

/** Counts what is on the wire; a full gate lets nobody in until somebody leaves. */
export class Gate {
  readonly #capacity: number;
  #inside = 0;
  #waiting: (() => void)[] = [];

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Resolves with 1 to `wanted` places. */
  async enter(wanted: number): Promise<number> {
    while (this.#inside >= this.#capacity) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const places = Math.min(wanted, this.#capacity - this.#inside);
    this.#inside += places;
    return places;
  }

  leave(): void {
    this.#inside -= 1;
    this.#waiting.shift()?.();
  }
}
