/** Hands out a channel's tokens at the instants they fall due. */
import { tokenToleranceMs, type TokenLease } from '../../records/channel-rate.ts';

export interface Pacer {
  /**
   * Resolves with how many messages may leave now: 1 to `wanted`; 0 when `stopped` said so meanwhile.
   * `soon` is how many will be asked for in all: tokens are leased for them together.
   */
  readonly take: (wanted: number, soon: number) => Promise<number>;
}

export interface PacerOptions {
  readonly lease: (wanted: number) => Promise<TokenLease>;
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

// A lease whose answer took longer says nothing reliable about when its tokens fall due.
const slowAnswerMs = 20;
const longestSleepMs = 250;

export function createPacer({ lease, stopped, clock, sleep }: PacerOptions): Pacer {
  let window: Window | undefined;

  const dueNow = (wanted: number): number => {
    if (window === undefined) return 0;
    const now = clock();
    const lost = Math.ceil((now - tokenToleranceMs - window.dueAt) / window.spacingMs);
    if (lost > 0) discard(window, lost);
    const due = window.dueAt > now ? 0 : Math.floor((now - window.dueAt) / window.spacingMs) + 1;
    const taken = Math.min(due, window.remaining, wanted);
    discard(window, taken);
    if (window.remaining === 0) window = undefined;
    return taken;
  };

  return {
    async take(wanted, soon) {
      while (!stopped()) {
        const taken = dueNow(wanted);
        if (taken > 0) return taken;
        if (window !== undefined) {
          await sleep(Math.min(longestSleepMs, Math.max(1, window.dueAt - clock())));
          continue;
        }
        const askedAt = clock();
        const { granted, waitMs, spacingMs } = await lease(Math.max(wanted, soon));
        if (granted === 0) await sleep(Math.min(longestSleepMs, waitMs));
        else if (clock() - askedAt <= slowAnswerMs)
          window = { dueAt: clock() + waitMs, remaining: granted, spacingMs };
      }
      return 0;
    },
  };
}

function discard(window: Window, count: number): void {
  const gone = Math.min(count, window.remaining);
  window.remaining -= gone;
  window.dueAt += gone * window.spacingMs;
}
