/** CPU seconds of another process and of its children, running and ended, as Linux counts them. */
import { readdirSync, readFileSync } from 'node:fs';

const ticksPerSecond = 100;

interface ProcessTimes {
  readonly parent: number;
  readonly own: number;
  readonly endedChildren: number;
}

/** NaN when the process is gone or the system has no /proc. */
export function cpuSecondsOf(pid: number): number {
  const root = readTimes(pid);
  if (root === undefined) return Number.NaN;
  const children = readdirSync('/proc')
    .map((name) => readTimes(Number(name)))
    .filter((times) => times?.parent === pid)
    .reduce((sum, times) => sum + (times?.own ?? 0), 0);
  return (root.own + root.endedChildren + children) / ticksPerSecond;
}

function readTimes(pid: number): ProcessTimes | undefined {
  if (!Number.isInteger(pid)) return undefined;
  try {
    // The name, in parentheses, may hold spaces: the fields begin behind it.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    const field = (index: number) => Number(fields[index]);
    return { parent: field(1), own: field(11) + field(12), endedChildren: field(13) + field(14) };
  } catch {
    return undefined;
  }
}
