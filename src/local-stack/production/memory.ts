/** Resident memory of every program, read from its own metrics. */
import { request } from 'undici';

export interface MemorySample {
  /** Seconds since the first. */
  readonly at: number;
  /** MiB by program. */
  readonly programs: Readonly<Record<string, number>>;
}

export async function sampleMemory(
  metricsUrls: Readonly<Record<string, string>>,
  startedAt: number,
): Promise<MemorySample> {
  const programs = await Promise.all(
    Object.entries(metricsUrls).map(async ([name, url]) => {
      // A program that is being started again has nothing to tell.
      const text = await request(url).then(
        ({ body }) => body.text(),
        () => '',
      );
      const bytes = /^process_resident_memory_bytes\{[^}]*\} (\S+)$/m.exec(text)?.[1];
      return bytes === undefined ? [] : [[name, Math.round(Number(bytes) / 1024 / 1024)] as const];
    }),
  );
  return { at: (performance.now() - startedAt) / 1000, programs: Object.fromEntries(programs.flat()) };
}

/** Median of the first and of the last minute, in MiB, by program. */
export function compareMemory(
  samples: readonly MemorySample[],
): Readonly<Record<string, { readonly first: number; readonly last: number }>> {
  const end = samples.at(-1)?.at ?? 0;
  // A program that was being started again is missing in some of them.
  const names = [...new Set(samples.flatMap(({ programs }) => Object.keys(programs)))].toSorted();
  const median = (name: string, from: number, to: number): number => {
    const values = samples
      .filter(({ at }) => at >= from && at <= to)
      .flatMap(({ programs }) => programs[name] ?? [])
      .toSorted((one, other) => one - other);
    return values[Math.floor(values.length / 2)] ?? Number.NaN;
  };
  return Object.fromEntries(
    names.map((name) => [
      name,
      { first: median(name, 0, 60), last: median(name, Math.max(0, end - 60), end) },
    ]),
  );
}
