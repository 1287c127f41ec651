/** The user's cache folder for programs that take minutes to download or build; all checkouts share it. */
import { accessSync, constants, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

const folderName = 'messaging-campaigns';

export function userCacheFolder(environment: Environment): string {
  const configured = environment['XDG_CACHE_HOME'];
  if (configured !== undefined && configured.startsWith('/')) return join(configured, folderName);
  const home = environment['HOME'] ?? homedir();
  return process.platform === 'darwin'
    ? join(home, 'Library', 'Caches', folderName)
    : join(home, '.cache', folderName);
}

/** The first program of that name on PATH. */
export function findOnPath(name: string, environment: Environment): string | undefined {
  const folders = (environment['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
