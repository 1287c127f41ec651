/** How fast a campaign sends, from samples of its counters. Imports neither io-ts nor Node. */

/** Recipients with an outcome at an instant. */
export interface ProgressSample {
  readonly atMs: number;
  readonly done: number;
}

const windowMs = 10_000;

/** Adds a sample and drops those before the window. */
export function withSample(
  samples: readonly ProgressSample[],
  sample: ProgressSample,
): readonly ProgressSample[] {
  // Keeps the last sample before the window, so that the samples span all of it.
  const first = samples.findLastIndex(({ atMs }) => atMs <= sample.atMs - windowMs);
  return [...samples.slice(Math.max(0, first)), sample];
}

/** Recipients a second over the samples, rounded to a tenth; 0 with a single sample. */
export function rateOf(samples: readonly ProgressSample[]): number {
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined || last.atMs <= first.atMs) return 0;
  return Math.max(0, Math.round(((last.done - first.done) * 10_000) / (last.atMs - first.atMs)) / 10);
}

/** Seconds until all pending recipients are sent to at this rate; null when unknown. */
export function secondsLeft(pending: number, rate: number): number | null {
  return pending === 0 || rate <= 0 ? null : Math.ceil(pending / rate);
}
