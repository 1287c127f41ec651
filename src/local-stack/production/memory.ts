/** Resident memory of every process: of our programs by their own metrics, of the servers as Linux counts it. */
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'undici';

export interface MemorySample {
  /** Seconds since the first. */
  readonly at: number;
  /** MiB by program. */
  readonly programs: Readonly<Record<string, number>>;
}

export interface MemorySources {
  /** `/metrics` by name. */
  readonly metricsUrls: Readonly<Record<string, string>>;
  /** Of the servers, by name; what they have started counts with them. */
  readonly pids: Readonly<Record<string, number>>;
}

export async function sampleMemory(
  { metricsUrls, pids }: MemorySources,
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
  const servers = Object.entries(pids).flatMap(([name, pid]) => {
    const mebibytes = memoryOfTree(pid);
    return mebibytes === undefined ? [] : [[name, mebibytes] as const];
  });
  return {
    at: (performance.now() - startedAt) / 1000,
    programs: Object.fromEntries([...programs.flat(), ...servers]),
  };
}

/** In MiB. Memory that several processes share is divided among them; undefined where there is no /proc. */
function memoryOfTree(root: number): number | undefined {
  try {
    const kibibytes = treeOf(root).map((pid) => {
      const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
      return Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1] ?? 0);
    });
    return Math.round(kibibytes.reduce((sum, one) => sum + one, 0) / 1024);
  } catch {
    // One of them has just ended, or this is not Linux.
    return undefined;
  }
}

function treeOf(root: number): readonly number[] {
  const children = readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && parentOf(pid) === root);
  return [root, ...children];
}

function parentOf(pid: number): number | undefined {
  try {
    // The name stands in brackets and may hold anything.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
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
