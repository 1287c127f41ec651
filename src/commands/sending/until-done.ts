import { setTimeout as sleep } from 'node:timers/promises';

const retryMs = 500;

/** Tries again while the database is away, until it works. */
export async function untilDone<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch {
      await sleep(retryMs);
    }
  }
}
