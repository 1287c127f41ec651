const firstWaitMs = 250;
const longestWaitMs = 10_000;

/** Doubles with each retry up to 10 s, with random jitter. */
export function backoffMs(retry: number): number {
  return Math.min(longestWaitMs, firstWaitMs * 2 ** (retry - 1)) * (0.5 + Math.random() / 2);
}

/** Rejects with the signal's reason when it aborts. */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
  });
}
