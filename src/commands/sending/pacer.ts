/** Hands out a channel's tokens at the instants they fall due. */
import { tokenToleranceMs, type TokenLease } from '../../records/sending/channel-rate.ts';
import { createClockOffset } from './clock-offset.ts';

export interface Pacer {
  /**
   * Resolves with how many messages may leave now: 1 to `wanted`; 0 when `stopped` said so meanwhile.
   * `soon` is how many will be asked for in all: tokens are leased for them together.
   */
  readonly take: (wanted: number, soon: number) => Promise<number>;
  /** The same without waiting: 0 when nothing is due yet. */
  readonly takeNow: (wanted: number, soon: number) => number;
}

export interface PacerOptions {
  /** Undefined when the schedule cannot be asked now. `latencyMs`: how long leases have taken to arrive. */
  readonly lease: (wanted: number, latencyMs: number) => Promise<TokenLease | undefined>;
  readonly stopped: () => boolean;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

interface Window {
  /** When the next token of the window falls due, on `clock`. */
  dueAt: number;
  remaining: number;
  readonly spacingMs: number;
}

// Leased when what is left lasts for less, beside the time that a lease takes.
const aheadMs = 20;
// Of the latest lease in the average.
const latencyWeight = 0.25;
const longestSleepMs = 250;
const unavailableMs = 200;

export function createPacer({ lease, stopped, clock, sleep }: PacerOptions): Pacer {
  const placeOnOurClock = createClockOffset();
  let windows: Window[] = [];
  let asking: Promise<void> | undefined;
  let askAgainAt = 0;
  let latencyMs = 0;

  const ask = async (wanted: number): Promise<void> => {
    const askedAt = clock();
    const answer = await lease(wanted, latencyMs);
    if (answer === undefined) {
      askAgainAt = clock() + unavailableMs;
      return;
    }
    const answeredAt = clock();
    latencyMs += latencyWeight * (answeredAt - askedAt - latencyMs);
    const offset = placeOnOurClock({ askedAt, theirs: answer.now, answeredAt });
    const { granted, dueAt, spacingMs } = answer;
    if (granted > 0) windows.push({ dueAt: dueAt + offset, remaining: granted, spacingMs });
    else askAgainAt = clock() + answer.retryInMs;
  };

  const askOnce = (wanted: number): void => {
    if (asking !== undefined || clock() < askAgainAt) return;
    asking = ask(wanted).finally(() => {
      asking = undefined;
    });
  };

  const dueNow = (wanted: number): number => {
    const now = clock();
    let taken = 0;
    for (const window of windows) {
      discard(window, Math.max(0, Math.ceil((now - tokenToleranceMs - window.dueAt) / window.spacingMs)));
      const due = window.dueAt > now ? 0 : Math.floor((now - window.dueAt) / window.spacingMs) + 1;
      taken += discard(window, Math.min(due, wanted - taken));
    }
    if (windows.some(({ remaining }) => remaining === 0)) {
      windows = windows.filter(({ remaining }) => remaining > 0);
    }
    return taken;
  };

  /** Nothing is leased ahead that may not be needed: a token not used is lost to everybody. */
  const leaseAhead = (stillWanted: number): void => {
    const held = windows.reduce((sum, { remaining }) => sum + remaining, 0);
    const last = windows.at(-1);
    const endsAt = last === undefined ? 0 : last.dueAt + last.remaining * last.spacingMs;
    if (held < stillWanted && endsAt < clock() + aheadMs + latencyMs) askOnce(stillWanted - held);
  };

  const takeNow = (wanted: number, soon: number): number => {
    const taken = dueNow(wanted);
    leaseAhead(soon - taken);
    return taken;
  };

  return {
    takeNow,
    async take(wanted, soon) {
      while (!stopped()) {
        const taken = takeNow(wanted, soon);
        if (taken > 0) return taken;
        const now = clock();
        const nextAt = windows[0]?.dueAt ?? askAgainAt;
        if (windows.length === 0 && asking !== undefined) await asking;
        else await sleep(Math.min(longestSleepMs, Math.max(1, nextAt - now)));
      }
      return 0;
    },
  };
}

/** Takes `count` tokens off the front, as far as there are any. */
function discard(window: Window, count: number): number {
  const gone = Math.min(count, window.remaining);
  window.remaining -= gone;
  window.dueAt += gone * window.spacingMs;
  return gone;
}
