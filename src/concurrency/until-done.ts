import { setTimeout as sleep } from 'node:timers/promises';

const retryMs = 500;

/** Tries again while the database is away, until it works; with `forMs` no longer than that, then it fails as the last try did. */
export async function untilDone<T>(attempt: () => Promise<T>, forMs = Infinity): Promise<T> {
  const until = performance.now() + forMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > until) throw error;
      await sleep(retryMs);
    }
  }
}
