/** Finds a user to run Postgres as, since Postgres refuses to run as root, and gives that user access to its folders. */
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { StackError } from '../error.ts';

export interface RunUser {
  readonly uid: number;
  readonly gid: number;
}

export interface LaunchCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
}

/** Undefined when this process is not root and simply runs Postgres as itself. */
export function findRunUser(): RunUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  for (const name of ['postgres', 'nobody']) {
    const account = accounts.find(([candidate]) => candidate === name);
    const [uid, gid] = [Number(account?.[2]), Number(account?.[3])];
    if (uid > 0 && gid > 0) return { uid, gid };
  }
  throw new StackError(
    'Postgres cannot run as root and there is no user "postgres" or "nobody" to run it as: start as a normal user, or set DATABASE_URL.',
  );
}

/**
 * The command as the run user. When a folder above one of `paths` is closed to that user (root's home, a checkout made
 * under umask 077), the right to pass it is handed over as a capability; where that is impossible, a StackError names the folder.
 */
export function launchAs(
  user: RunUser | undefined,
  { command, args, paths }: { command: string; args: readonly string[]; paths: readonly string[] },
): LaunchCommand {
  if (user === undefined) return { command, args };
  const closed = paths.map((path) => closedFolder(path, user)).find((folder) => folder !== undefined);
  if (closed === undefined) return { command, args, ...user };
  if (!canPassCapabilities()) {
    throw new StackError(
      `The folder ${closed} cannot be entered by user ${user.uid}, as which Postgres runs because root may not: ` +
        `run "chmod o+x ${closed}", or start as a normal user, or choose another folder with DATA_DIR.`,
    );
  }
  const identity = ['--reuid', String(user.uid), '--regid', String(user.gid), '--clear-groups'];
  return { command: 'setpriv', args: [...identity, ...capabilities, command, ...args] };
}

// no_setuid_fixup: access(2), by which Postgres checks its own binary, ignores capabilities without it.
const capabilities = [
  '--inh-caps=-all,+dac_override',
  '--ambient-caps=-all,+dac_override',
  '--securebits=+no_setuid_fixup',
  '--',
];

/** Returns the outermost folder above `path` that the user may not enter; does not check `path` itself. */
export function closedFolder(path: string, user: RunUser): string | undefined {
  const parents: string[] = [];
  for (let folder = dirname(resolve(path)); ; folder = dirname(folder)) {
    parents.unshift(folder);
    if (folder === dirname(folder)) break;
  }
  return parents.find((folder) => !mayEnter(folder, user));
}

function mayEnter(folder: string, user: RunUser): boolean {
  const { mode, uid, gid } = statSync(folder);
  if (uid === user.uid) return (mode & 0o100) !== 0;
  if (gid === user.gid) return (mode & 0o010) !== 0;
  return (mode & 0o001) !== 0;
}

function canPassCapabilities(): boolean {
  if (process.platform !== 'linux') return false;
  const identity = ['--reuid', '65534', '--regid', '65534', '--clear-groups'];
  return spawnSync('setpriv', [...identity, ...capabilities, 'true'], { stdio: 'ignore' }).status === 0;
}
