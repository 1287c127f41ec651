/** Processes of an earlier start that was killed before it could stop them. */
import { processIdentity } from '#file-lock';
import { setTimeout as sleep } from 'node:timers/promises';
import { readJson, writePrivateJson } from '../host/private-file.ts';
import { StackError } from '../error.ts';

interface Recorded {
  readonly name: string;
  readonly pid: number;
  readonly identity: string;
}

const patienceMs = 10_000;

/** Written at every change, so that the next start can stop processes that a killed start left. */
export function recordProcesses(file: string, pids: Readonly<Record<string, number>>): void {
  const recorded = Object.entries(pids).flatMap(([name, pid]): Recorded[] => {
    const identity = processIdentity(pid);
    return identity === undefined ? [] : [{ name, pid, identity }];
  });
  writePrivateJson(file, recorded);
}

/** Stops processes of a killed start, dependants first; returns their names. Postgres is stopped by its own launcher. */
export async function stopOrphans(file: string): Promise<readonly string[]> {
  const recorded = readRecorded(file).filter(({ pid, identity }) => processIdentity(pid) === identity);
  const [servers, programs] = [recorded.filter(isServer), recorded.filter((one) => !isServer(one))];
  await Promise.all(programs.map(stop));
  await Promise.all(servers.filter(({ name }) => name !== 'postgres').map(stop));
  return recorded.map(({ name }) => name);
}

function isServer({ name }: Recorded): boolean {
  return name === 'postgres' || name === 'temporal';
}

async function stop({ name, pid, identity }: Recorded): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    try {
      process.kill(pid, signal);
    } catch {
      // The process has ended, or belongs to another user; the check below decides.
    }
    for (let waited = 0; waited < patienceMs; waited += 50) {
      if (processIdentity(pid) !== identity) return;
      await sleep(50);
    }
  }
  throw new StackError(
    `The ${name} process ${pid} of an earlier start cannot be stopped: end it and start again.`,
  );
}

function readRecorded(file: string): readonly Recorded[] {
  const value = readJson(file);
  if (!Array.isArray(value)) return [];
  return value.filter(
    (one): one is Recorded => typeof one?.pid === 'number' && typeof one?.identity === 'string',
  );
}
