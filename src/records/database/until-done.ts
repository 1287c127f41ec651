import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseAway, isDatabaseUnavailable } from './failure.ts';

const retryMs = 500;
/** 5 s of retries after deadlocks and timeouts: one that persists longer is no coincidence. */
const collisionsForMs = 5_000;

/**
 * Tries again while the database is away, until it works; with `forMs` no longer than that. What is no absence of the
 * database fails as the attempt did: at once, or after a few seconds where another try may end better.
 */
export async function untilDone<T>(attempt: () => Promise<T>, forMs = Infinity): Promise<T> {
  const until = performance.now() + forMs;
  let collidedAt: number | undefined;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const now = performance.now();
      if (now > until || !isDatabaseUnavailable(error)) throw error;
      if (!isDatabaseAway(error)) collidedAt ??= now;
      if (collidedAt !== undefined && now > collidedAt + collisionsForMs) throw error;
      await sleep(retryMs);
    }
  }
}
