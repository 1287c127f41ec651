/** A client that never stops calling the API, so that a request lost in an upgrade is seen. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';

export interface SteadyCaller {
  /** Stops calling. Returns the number of requests, and a line for each that was not answered 200. */
  readonly stop: () => Promise<{ readonly calls: number; readonly failures: readonly string[] }>;
}

const pauseMs = 50;

export function startSteadyCaller(url: string, apiKey: string): SteadyCaller {
  const failures: string[] = [];
  let calls = 0;
  const stopped = new AbortController();
  // A connection for every request, as from many clients.
  const dispatcher = new Agent({ pipelining: 0 });
  const call = async (): Promise<void> => {
    calls += 1;
    try {
      const { statusCode, body } = await request(url, { headers: { 'x-api-key': apiKey }, dispatcher });
      await body.dump();
      if (statusCode !== 200) failures.push(String(statusCode));
    } catch (error) {
      failures.push((error as NodeJS.ErrnoException).code ?? String(error));
    }
  };
  const loop = (async () => {
    while (!stopped.signal.aborted) {
      await call();
      await sleep(pauseMs);
    }
  })();
  return {
    stop: async () => {
      stopped.abort();
      await loop;
      await dispatcher.close();
      return { calls, failures };
    },
  };
}
