/**
 * Memory of every process, in MiB. Of our programs it is the resident set, as their own `/metrics` tells it: what an operator
 * sees. Of the servers it is the proportional set (Pss), because the processes of Postgres share their buffers and resident
 * sets would count these once for each; what is shared is told apart, because it has an upper bound of its own.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'undici';

export interface MemorySample {
  /** Seconds since the first. */
  readonly at: number;
  /** MiB by program; `postgres, shared` beside `postgres`. */
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
  const servers = Object.entries(pids).flatMap(([name, pid]) => memoryOfTree(name, pid));
  return {
    at: (performance.now() - startedAt) / 1000,
    programs: Object.fromEntries([...programs.flat(), ...servers]),
  };
}

/** Of the name under which a program's shared memory stands. */
export const sharedSuffix = ', shared';

/** Empty where there is no /proc. */
function memoryOfTree(name: string, root: number): readonly (readonly [string, number])[] {
  const parts = treeOf(root).flatMap((pid) => memoryOf(pid) ?? []);
  if (parts.length === 0) return [];
  const own = sumOf(parts.map((part) => part.own));
  const shared = sumOf(parts.map((part) => part.shared));
  return shared === 0
    ? [[name, own]]
    : [
        [name, own],
        [`${name}${sharedSuffix}`, shared],
      ];
}

interface ProcessMemory {
  readonly own: number;
  readonly shared: number;
}

/** In KiB; undefined when the process has just ended. */
function memoryOf(pid: number): ProcessMemory | undefined {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    const read = (label: string) =>
      Number(new RegExp(`^${label}:\\s+(\\d+) kB$`, 'm').exec(rollup)?.[1] ?? 0);
    const shared = read('Pss_Shmem');
    return { own: read('Pss') - shared, shared };
  } catch {
    return undefined;
  }
}

function sumOf(kibibytes: readonly number[]): number {
  return Math.round(kibibytes.reduce((sum, one) => sum + one, 0) / 1024);
}

function treeOf(root: number): readonly number[] {
  const children = processes().filter((pid) => parentOf(pid) === root);
  return [root, ...children];
}

function processes(): readonly number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
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
