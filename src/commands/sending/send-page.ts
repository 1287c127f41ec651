/** Sends a claimed page at the channel's pace and records what came of it as it comes. */
import type { SendResult } from '../../provider/provider.ts';
import type { ClaimedRecipient } from '../../records/sending/claims.ts';
import type { MessageOutcome } from '../../records/sending/page-results.ts';
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
  /** How long before its end a page tells that it is `ending`. */
  readonly leadMs: () => number;
  /** Writes outcomes; `final` when the page has no more of them. */
  readonly record: (outcomes: ReadonlyMap<number, MessageOutcome>, final: boolean) => Promise<void>;
}

const unsent: MessageOutcome = { kind: 'released', delayMs: 0, attempted: false };

// A slow answer must not keep the others' results out of the records for long.
const flushEveryMs = 1_000;

export interface SendingPage {
  /** Resolves when what has not left yet will have left within `leadMs()`, as far as the page's pace so far tells. */
  readonly ending: Promise<void>;
  /** Resolves when no message of the page will leave any more. */
  readonly dispatched: Promise<void>;
  /** Resolves when every outcome is written. */
  readonly recorded: Promise<void>;
}

export function sendPage(sender: PageSender, recipients: readonly ClaimedRecipient[]): SendingPage {
  const { gate, pacer, stopped } = sender;
  const dispatched = promiseWithResolver();
  const ending = promiseWithResolver();
  const startedAt = performance.now();
  let outcomes = new Map<number, MessageOutcome>();
  let next = 0;
  let onWire = 0;
  let allLeft = false;
  let wake = (): void => undefined;

  const settle = (recipient: ClaimedRecipient, result: SendResult): void => {
    const verdict = judge(result, recipient.attempts);
    outcomes.set(recipient.position, verdict.outcome);
    onWire -= 1;
    sender.onVerdict(verdict, recipient);
    gate.leave();
    if (allLeft && onWire === 0) wake();
  };

  const leave = (count: number): void => {
    gate.enter(count);
    onWire += count;
    for (const until = next + count; next < until; next += 1) {
      const recipient = recipients[next];
      if (recipient === undefined) break;
      void sender.send(recipient).then((result) => settle(recipient, result));
    }
    const left = recipients.length - next;
    // The first half tells the pace.
    if (left > next) return;
    if ((left * (performance.now() - startedAt)) / next <= sender.leadMs()) ending.resolve();
  };

  /** Nobody waits for a promise while there are places and tokens: that is most of what a message would cost here. */
  const dispatch = (): void => {
    while (next < recipients.length && !stopped()) {
      const left = recipients.length - next;
      const places = Math.min(left, gate.places());
      if (places === 0) {
        gate.whenFree(dispatch);
        return;
      }
      const tokens = pacer.takeNow(places, left);
      if (tokens === 0) {
        void waitForToken(places).catch(dispatched.reject);
        return;
      }
      leave(tokens);
    }
    for (const recipient of recipients.slice(next)) outcomes.set(recipient.position, unsent);
    allLeft = true;
    ending.resolve();
    dispatched.resolve();
    if (onWire === 0) wake();
  };

  const waitForToken = async (places: number): Promise<void> => {
    const tokens = await pacer.take(places, recipients.length - next);
    // The wait may have been long.
    if (tokens > 0 && !stopped()) leave(tokens);
    dispatch();
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

  dispatch();
  return { ending: ending.promise, dispatched: dispatched.promise, recorded: record() };
}

function promiseWithResolver() {
  let resolve!: () => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}

/** Counts what is on the wire of one step, which sends one page after the other. */
export class Gate {
  readonly #capacity: number;
  #inside = 0;
  #waiting: (() => void) | undefined;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  places(): number {
    return this.#capacity - this.#inside;
  }

  /** No more than there are places. */
  enter(count: number): void {
    this.#inside += count;
  }

  leave(): void {
    this.#inside -= 1;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.();
  }

  /** Calls once, when somebody leaves. */
  whenFree(call: () => void): void {
    this.#waiting = call;
  }
}
