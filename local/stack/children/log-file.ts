import { renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

const limitBytes = 10 * 1024 * 1024;

/** Returns the path of a server's log. A large file is renamed first and replaces the previous renamed one. */
export function rotateLog(folder: string, name: string): string {
  const path = join(folder, `${name}.log`);
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > limitBytes) renameSync(path, `${path}.1`);
  return path;
}
