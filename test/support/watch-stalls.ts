import { setTimeout as sleep } from 'node:timers/promises';

/** A timer of a quiet process is no later than this. */
const timerToleranceMs = 10;
const everyMs = 5;

/**
 * Notes when this process was stalled and for how long: messages that fell due meanwhile leave together afterwards, and messages
 * that arrived meanwhile are read together. A second with a stall of 0.2 s may have what was due in 1.2 s. With `ask`, waiting
 * for its answer counts as a stall as well: a database that a busy machine slows down.
 */
export function watchStalls(ask?: () => Promise<unknown>) {
  const stalls: { readonly at: number; readonly ms: number }[] = [];
  let lookedAt = performance.now();
  const look = () => {
    const now = performance.now();
    const ms = now - lookedAt - everyMs;
    if (ms > timerToleranceMs) stalls.push({ at: now, ms });
    lookedAt = now;
  };
  const timer = setInterval(look, everyMs);
  const over = new AbortController();
  const askAgain = async (asked: () => Promise<unknown>): Promise<void> => {
    while (!over.signal.aborted) {
      const askedAt = performance.now();
      await asked().catch(() => undefined);
      const [at, ms] = [performance.now(), performance.now() - askedAt];
      if (ms > timerToleranceMs) stalls.push({ at, ms });
      await sleep(everyMs);
    }
  };
  if (ask !== undefined) void askAgain(ask);
  /** Milliseconds of the stalls that overlap this time. */
  const between = (from: number, until: number): number =>
    stalls.filter(({ at, ms }) => at > from && at - ms < until).reduce((sum, { ms }) => sum + ms, 0);
  return {
    stop: () => {
      look();
      clearInterval(timer);
      over.abort();
    },
    between,
    /** Messages in the fullest second, of their ascending `times`; a second with a stall counts as longer. */
    busiestSecond(times: readonly number[]): number {
      let first = 0;
      return Math.max(
        ...times.map((at, index) => {
          while ((times[first] ?? at) <= at - 1_000) first += 1;
          return (index - first + 1) / (1 + between(at - 1_000, at) / 1_000);
        }),
      );
    },
  };
}
