/** Clears what a killed start leaves in a Postgres data folder: a running server, or the pid file of a dead one. */
import { processIdentity } from '#file-lock';
import { readFileSync, realpathSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StackError } from '../error.ts';

/** Stops a server that runs on the folder and removes the pid file of one that does not. */
export async function clearPostgresOrphan(dataFolder: string): Promise<void> {
  const pidFile = join(dataFolder, 'postmaster.pid');
  const pid = readPid(pidFile);
  if (pid === undefined) return;
  if (processIdentity(pid) === undefined || !looksLikePostgres(pid)) {
    rmSync(pidFile, { force: true });
    return;
  }
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (await endsAfter(pid, signal)) return;
  }
  throw new StackError(
    `A Postgres from an earlier start still runs on ${dataFolder} and cannot be stopped: end process ${pid} and start again.`,
  );
}

function readPid(pidFile: string): number | undefined {
  try {
    const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
    return Number.isInteger(pid) && pid > 1 ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Where the system cannot say (no /proc), the pid file is believed. */
function looksLikePostgres(pid: number): boolean {
  if (process.platform !== 'linux') return true;
  try {
    return basename(realpathSync(`/proc/${pid}/exe`)).startsWith('postgres');
  } catch {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('postgres');
  }
}

async function endsAfter(pid: number, signal: NodeJS.Signals): Promise<boolean> {
  const before = processIdentity(pid);
  try {
    process.kill(pid, signal);
  } catch {
    return processIdentity(pid) === undefined;
  }
  for (let waited = 0; waited < 10_000; waited += 50) {
    if (processIdentity(pid) !== before) return true;
    await sleep(50);
  }
  return false;
}
