/** The folder of a stack's persistent data; only one start at a time may use it. */
import { tryLock } from '#file-lock';
import { accessSync, chmodSync, constants, existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StackError } from '../error.ts';

export interface DataFolder {
  readonly path: string;
  readonly logs: string;
  readonly file: (name: string) => string;
  /** Unlocks the folder for the next start. */
  readonly release: () => void;
}

/** Makes the folder where it is missing and locks it. `path` is absolute. Throws StackError when another start has it. */
export function openDataFolder(path: string): DataFolder {
  const logs = join(path, 'logs');
  try {
    makeFolder(path);
    if (!existsSync(logs)) mkdirSync(logs, { mode: 0o700 });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw unusable(path, error);
  }
  const lock = lockOf(path);
  if (lock.release === undefined) {
    throw new StackError(
      `Another start (process ${lock.holder}) is using the data folder ${path}: stop that one first, or choose another folder with DATA_DIR.`,
    );
  }
  return { path, logs, file: (name) => join(path, name), release: lock.release };
}

/** Creates one folder after the other, because Node's `recursive` option never returns below /proc. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (!existsSync(parent)) makeFolder(parent);
  mkdirSync(path);
  // When root starts the stack, Postgres runs as another user, who must traverse this folder. Files with secrets are 0600.
  chmodSync(path, process.getuid?.() === 0 ? 0o711 : 0o700);
}

function lockOf(path: string): ReturnType<typeof tryLock> {
  try {
    return tryLock(join(path, 'start.lock'));
  } catch (error) {
    throw unusable(path, error);
  }
}

function unusable(path: string, error: unknown): StackError {
  const { code, message } = error as NodeJS.ErrnoException;
  const reasons: Readonly<Record<string, string>> = {
    EACCES: 'this user may not write there',
    EPERM: 'this user may not write there',
    EROFS: 'it lies on a read-only file system',
    ENOSPC: 'the disk is full',
    ENOENT: 'it cannot be made there',
    ENOTDIR: 'it is not a folder',
    EEXIST: 'it is not a folder',
  };
  const reason = reasons[code ?? ''] ?? message;
  return new StackError(
    `The data folder ${path} cannot be used (${reason}): make room or give access, or choose another folder with DATA_DIR.`,
    { cause: error },
  );
}
