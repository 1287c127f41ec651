/** Wall clock, CPU seconds of this process and its peak memory around a piece of work. */
export interface Measured {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakRssMb: number;
}

export async function measure(work: () => Promise<void>): Promise<Measured> {
  let peak = process.memoryUsage.rss();
  const sampler = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 50);
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  try {
    await work();
  } finally {
    clearInterval(sampler);
  }
  const cpu = process.cpuUsage(cpuBefore);
  return {
    seconds: (performance.now() - startedAt) / 1000,
    cpuSeconds: (cpu.user + cpu.system) / 1_000_000,
    peakRssMb: Math.round(peak / 1024 / 1024),
  };
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
