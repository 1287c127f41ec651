/** The longest block of this process's event loop. Self-contained: `watched-server.ts` runs its source in another process. */
export function watchEventLoop(): {
  readonly longestBlock: () => Promise<number>;
  readonly stop: () => void;
} {
  const everyMs = 5;
  let longest = 0;
  let last = performance.now();
  let cpu = process.cpuUsage();
  const sample = () => {
    const now = performance.now();
    const { user, system } = process.cpuUsage(cpu);
    // The CPU time that the process used is an upper bound, so that waiting for a busy processor does not count as a block.
    longest = Math.max(longest, Math.min(now - last - everyMs, (user + system) / 1000));
    last = now;
    cpu = process.cpuUsage();
  };
  const timer = setInterval(sample, everyMs).unref();
  return {
    /** Milliseconds of the longest block since the last call. */
    longestBlock: () =>
      new Promise((resolve) => {
        setTimeout(() => {
          sample();
          resolve(longest);
          longest = 0;
        }, 2 * everyMs);
      }),
    stop: () => clearInterval(timer),
  };
}
