/** Sends a claimed page, each message at the instant its token falls due, and records what came of it as it comes. */
import type { SendResult } from '../../provider/provider.ts';
import { tokenToleranceMs, type TokenLease } from '../../records/sending/channel-rate.ts';
import type { ClaimedRecipient } from '../../records/sending/claims.ts';
import type { MessageOutcome } from '../../records/sending/page-results.ts';
import type { Gate } from './gate.ts';

export interface PageSender {
  readonly gate: Gate;
  readonly send: (recipient: ClaimedRecipient, heldBack: () => boolean) => Promise<SendResult>;
  /** The rest of the page must not leave any more. */
  readonly stopped: () => boolean;
  /** More tokens, for those whose tokens went unused: the page came late, or had to wait for an answer. */
  readonly lease: (wanted: number) => Promise<PageTokens | undefined>;
  readonly judge: (result: SendResult, recipient: ClaimedRecipient) => MessageOutcome;
  /** Writes outcomes; `final` when the page has no more of them. */
  readonly record: (outcomes: ReadonlyMap<number, MessageOutcome>, final: boolean) => Promise<void>;
}

/** A lease on our own clock. */
export interface PageTokens extends Pick<TokenLease, 'granted' | 'spacingMs' | 'retryInMs'> {
  /** When the first token falls due, by `performance.now()`. */
  readonly startsAt: number;
}

const unsent: MessageOutcome = { kind: 'released', delayMs: 0, attempted: false };

/** Who has not left by then is given back: nobody stays claimed without a token that is due soon. */
const longestStayMs = 800;
// A slow answer must not keep the others' results out of the records for long.
const flushEveryMs = 1_000;
/** After a lease that the database did not give. */
const askAgainMs = 200;

export interface SendingPage {
  /** Resolves when no message of the page will leave any more. */
  readonly dispatched: Promise<void>;
  /** Resolves when every outcome is written. */
  readonly recorded: Promise<void>;
}

export function sendPage(
  sender: PageSender,
  recipients: readonly ClaimedRecipient[],
  firstTokens: PageTokens,
): SendingPage {
  const { gate } = sender;
  const { promise: dispatched, resolve: allDispatched, reject } = Promise.withResolvers<void>();
  const leavesBefore = performance.now() + longestStayMs;
  let { startsAt, granted, spacingMs } = firstTokens;
  let outcomes = new Map<number, MessageOutcome>();
  let [next, onWire, allLeft] = [0, 0, false];
  let wake = (): void => undefined;

  const heldBack = (): boolean => sender.stopped() || performance.now() > leavesBefore;

  const leave = (count: number): void => {
    onWire += count;
    for (const until = next + count; next < until; next += 1) {
      const recipient = recipients[next];
      if (recipient === undefined) break;
      const sentAt = gate.enter();
      void sender.send(recipient, heldBack).then((result) => {
        onWire -= 1;
        outcomes.set(recipient.position, sender.judge(result, recipient));
        gate.leave(sentAt, result.kind === 'accepted');
        if (allLeft && onWire === 0) wake();
      });
    }
  };

  /** Takes what is due off the front, and throws away what is too late. */
  const takeDue = (wanted: number): number => {
    const now = performance.now();
    const skip = (count: number): number => {
      const gone = Math.min(count, granted);
      granted -= gone;
      startsAt += gone * spacingMs;
      return gone;
    };
    skip(Math.max(0, Math.ceil((now - tokenToleranceMs - startsAt) / spacingMs)));
    return startsAt > now ? 0 : skip(Math.min(wanted, Math.floor((now - startsAt) / spacingMs) + 1));
  };

  /** Nobody waits for a promise while there are places and tokens: that is most of what a message would cost here. */
  const dispatch = (): void => {
    if (allLeft) return;
    while (next < recipients.length && !heldBack()) {
      const places = Math.min(recipients.length - next, gate.places());
      if (places === 0) return gate.whenFree(dispatch);
      const tokens = takeDue(places);
      if (tokens > 0) leave(tokens);
      else if (granted === 0) return void leaseMore().catch(reject);
      else return void setTimeout(dispatch, Math.max(1, startsAt - performance.now()));
    }
    for (const recipient of recipients.slice(next)) outcomes.set(recipient.position, unsent);
    allLeft = true;
    clearTimeout(tooLate);
    allDispatched();
    if (onWire === 0) wake();
  };

  const leaseMore = async (): Promise<void> => {
    const more = await sender.lease(recipients.length - next);
    if (more === undefined || more.granted === 0)
      return void setTimeout(dispatch, more?.retryInMs ?? askAgainMs);
    ({ startsAt, granted, spacingMs } = more);
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

  const tooLate = setTimeout(dispatch, longestStayMs + 1);
  dispatch();
  return { dispatched, recorded: record() };
}
