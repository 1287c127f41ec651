import { renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

const limitBytes = 10 * 1024 * 1024;

/** The path of a server's log; one that has grown large moves aside, over the one before it. */
export function rotateLog(folder: string, name: string): string {
  const path = join(folder, `${name}.log`);
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > limitBytes) renameSync(path, `${path}.1`);
  return path;
}
