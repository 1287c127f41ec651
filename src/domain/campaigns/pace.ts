/** How fast a campaign sends, from looks at its counters. Io-ts-free and Node-free. */

/** How many were sent to, or given up, at an instant. */
export interface Look {
  readonly atMs: number;
  readonly done: number;
}

const windowMs = 10_000;

/** The looks that the pace is taken from, with the newest. */
export function withLook(looks: readonly Look[], look: Look): readonly Look[] {
  // One that is older than the window stays: without it a window of few looks would begin too late.
  const first = looks.findLastIndex(({ atMs }) => atMs <= look.atMs - windowMs);
  return [...looks.slice(Math.max(0, first)), look];
}

/** A second, over the looks; 0 while there is only one. */
export function rateOf(looks: readonly Look[]): number {
  const [first] = looks;
  const last = looks.at(-1);
  if (first === undefined || last === undefined || last.atMs <= first.atMs) return 0;
  return Math.max(0, Math.round(((last.done - first.done) * 10_000) / (last.atMs - first.atMs)) / 10);
}

/** Until all that wait are sent to, at this rate; null where that cannot be told. */
export function secondsLeft(pending: number, rate: number): number | null {
  return pending === 0 || rate <= 0 ? null : Math.ceil(pending / rate);
}
