import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The program's path, undefined where this machine has none. Debian puts it where a user's PATH does not look. */
export function findPgbouncer(): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'];
  return folders.map((folder) => join(folder, 'pgbouncer')).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
