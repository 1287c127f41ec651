/** Whether memory stays level under load: the last minute held against the first one after the warm-up. */
import { sharedSuffix, type MemorySample } from './memory.ts';

/**
 * The first minute opens connections and shards, compiles what is hot, fills the caches to the size they are given and sees
 * two processes restarted: what is compared begins behind it.
 */
export const warmUpSeconds = 60;
const minuteSeconds = 60;

/** Beyond them the last minute is no longer as the first. V8's young generation alone comes and goes by 32 MiB, whatever is kept. */
const allowedShare = 0.1;
const allowedMebibytes = 32;
export const levelBound = `level: the last minute at most ${allowedShare * 100} % (or ${allowedMebibytes} MiB) above the first`;

export interface MemoryTrend {
  readonly name: string;
  /** Medians, in MiB. */
  readonly first: number;
  readonly last: number;
  /** MiB per minute, of the second half. */
  readonly slope: number;
  readonly verdict: 'level' | 'growing' | 'filling';
}

/** By name; undefined when there are not two minutes behind the warm-up. */
export function judgeMemory(samples: readonly MemorySample[]): readonly MemoryTrend[] | undefined {
  const end = samples.at(-1)?.at ?? 0;
  const middle = warmUpSeconds + (end - warmUpSeconds) / 2;
  if (end < warmUpSeconds + 2 * minuteSeconds) return undefined;
  const names = [...new Set(samples.flatMap(({ programs }) => Object.keys(programs)))].toSorted();
  return names.map((name) => {
    const points = samples.flatMap(({ at, programs }) => {
      const size = programs[name];
      // A program that was being started again is missing in some of them.
      return size === undefined ? [] : [{ at, size }];
    });
    const sizes = (from: number, to: number) =>
      points.filter(({ at }) => at >= from && at <= to).map(({ size }) => size);
    const first = median(sizes(warmUpSeconds, warmUpSeconds + minuteSeconds));
    const last = median(sizes(end - minuteSeconds, end));
    return {
      name,
      first,
      last,
      slope: slopeOf(points.filter(({ at }) => at >= middle)),
      verdict: verdictOf({ name, first, last }),
    };
  });
}

/** Shared memory has its full size from the start and is counted as it is touched. */
function verdictOf({
  name,
  first,
  last,
}: Pick<MemoryTrend, 'name' | 'first' | 'last'>): MemoryTrend['verdict'] {
  if (last - first <= Math.max(first * allowedShare, allowedMebibytes)) return 'level';
  return name.endsWith(sharedSuffix) ? 'filling' : 'growing';
}

interface Point {
  readonly at: number;
  readonly size: number;
}

/** MiB per minute: the median of the slopes between any two points, which a collection of garbage does not bend. */
function slopeOf(points: readonly Point[]): number {
  const slopes = points.flatMap((one, index) =>
    points.slice(index + 1).map((other) => ((other.size - one.size) / (other.at - one.at)) * minuteSeconds),
  );
  return median(slopes);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function describeTrend({ name, first, last, slope, verdict }: MemoryTrend): string {
  const perMinute = `${slope < 0 ? '' : '+'}${slope.toFixed(1)}`;
  return `  ${name.padEnd(18)} ${String(first).padStart(5)} → ${String(last).padStart(5)}   ${perMinute.padStart(6)} per minute   ${verdict}`;
}
