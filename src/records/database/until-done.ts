import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseAway, isDatabaseUnavailable } from './failure.ts';

const retryMs = 500;
/** 5 s of retries after deadlocks and timeouts: one that persists longer is no coincidence. */
const collisionsForMs = 5_000;

/**
 * Retries while the database is away, without end or for `forMs`. Other errors are thrown at once; deadlocks and timeouts after
 * some seconds of retries.
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
