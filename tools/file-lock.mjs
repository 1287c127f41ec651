/**
 * A lock file that survives its holder's sudden death: it names the holder by process id and start time, so that a
 * stale one is recognised even after the id was given to another process. Imports nothing that is not in Node.
 */
import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Identifies one process among all that ever had this id; undefined when it does not run (zombies do not). */
export function processIdentity(pid) {
  if (process.platform !== 'linux') return identityFromPs(pid);
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, startTicks] = [fields[0], fields[19]];
    if (state === 'Z' || state === 'X') return undefined;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}:${startTicks}`;
  } catch {
    return undefined;
  }
}

function identityFromPs(pid) {
  try {
    const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
    const [state = '', ...started] = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], options)
      .trim()
      .split(/\s+/);
    return state === '' || state.startsWith('Z') ? undefined : started.join(' ');
  } catch {
    return undefined;
  }
}

/** Takes the lock at `path`: `{ release }`, or `{ holder }` (a process id) when another living process has it. */
export function tryLock(path) {
  mkdirSync(dirname(path), { recursive: true });
  const own = JSON.stringify({ pid: process.pid, identity: processIdentity(process.pid) });
  const draft = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  writeFileSync(draft, own, { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < 20; attempt += 1) {
      if (linked(draft, path)) return { release: () => release(path, own) };
      const found = readIfThere(path);
      if (found === undefined) continue;
      const holder = livingHolder(found);
      if (holder !== undefined) return { holder };
      removeStale(path, found);
    }
    return { holder: 0 };
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Waits for the lock; `onWait(holder)` is called once, before the first wait. Resolves to the function that releases it. */
export async function waitForLock(path, onWait = () => undefined) {
  for (let attempt = 0; ; attempt += 1) {
    const lock = tryLock(path);
    if (lock.release !== undefined) return lock.release;
    if (attempt === 0) onWait(lock.holder);
    await sleep(200);
  }
}

function linked(draft, path) {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function livingHolder(content) {
  try {
    const { pid, identity } = JSON.parse(content);
    return processIdentity(pid) === identity && identity !== undefined ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Removes a stale lock. Two processes may see the same stale lock: one that moved away a newer lock puts it back. */
function removeStale(path, stale) {
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
    if (readFileSync(aside, 'utf8') !== stale) linked(aside, path);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function release(path, own) {
  if (readIfThere(path) === own) rmSync(path, { force: true });
}
