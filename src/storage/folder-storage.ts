/** Files in a local folder: written under a temporary name, synced, then renamed. */
import { once } from 'node:events';
import { constants, createReadStream, createWriteStream } from 'node:fs';
import { access, link, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { dirname, join, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type FileStorage, StorageFailure } from './file-storage.ts';

const partialName = /^\.[0-9a-f-]{36}\.partial$/;

/** Error codes of the folder and its disk, as opposed to errors of the content's source. */
const ofDisk = new Set('ENOSPC EDQUOT EFBIG EROFS EACCES EPERM EIO ENOTDIR EEXIST EMFILE ENFILE'.split(' '));

export function createFolderStorage(folder: string): FileStorage {
  const root = resolve(folder);
  const pathOf = (key: string): string => {
    const path = resolve(root, key);
    if (!path.startsWith(root + sep)) throw new Error('The key leaves the storage folder');
    return path;
  };

  const asFailure = (error: unknown): never => {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!ofDisk.has(code)) throw error;
    throw new StorageFailure(`Uploaded files cannot be kept in the folder ${root}: ${code}`, {
      cause: error,
    });
  };

  const olderNames = async (isMeant: (name: string) => boolean, before: Date): Promise<readonly string[]> => {
    const names: string[] = [];
    for (const name of (await readdir(root).catch(noneWhenMissing)).filter(isMeant)) {
      const found = await stat(join(root, name)).catch(noneWhenMissing);
      if (!Array.isArray(found) && found.isFile() && found.mtime < before) names.push(name);
    }
    return names;
  };

  return {
    async write(key, content) {
      const path = pathOf(key);
      await mkdir(dirname(path), { recursive: true }).catch(asFailure);
      const temporary = join(dirname(path), `.${randomUUID()}.partial`);
      try {
        const target = createWriteStream(temporary, { flags: 'wx', mode: 0o600 });
        // Wait for the file to open. Otherwise, if the source fails at once, the file would be created after its removal.
        await once(target, 'open');
        await pipeline(content, target);
        const file = await open(temporary, 'r+');
        try {
          await file.sync();
        } finally {
          await file.close();
        }
        const { size } = await stat(temporary);
        await rename(temporary, path);
        return size;
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => undefined);
        return asFailure(error);
      }
    },
    async read(key) {
      try {
        await stat(pathOf(key));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        return asFailure(error);
      }
      return createReadStream(pathOf(key));
    },
    delete: (key) => rm(pathOf(key), { force: true }).catch(asFailure),
    async *list({ prefix, before }) {
      yield await olderNames((name) => name.startsWith(prefix), before);
    },
    // A file that is still being written has a recent modification time, so it is kept.
    async removeUnfinished({ before }) {
      const names = await olderNames((name) => partialName.test(name), before).catch(asFailure);
      await Promise.all(names.map((name) => rm(join(root, name), { force: true }).catch(asFailure)));
      return names.length;
    },
    async check() {
      try {
        await mkdir(root, { recursive: true });
        await access(root, constants.R_OK | constants.W_OK);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        throw new StorageFailure(`The folder ${root} of uploaded files cannot be used: ${code}`);
      }
    },
  };
}

const idFile = '.installation';

/**
 * Reads the id of the folder, which is the same for all processes that share it. Undefined if it has none and none can be
 * created.
 */
export async function readFolderId(
  folder: string,
  { create }: { readonly create: boolean },
): Promise<string | undefined> {
  const path = join(resolve(folder), idFile);
  const read = () =>
    readFile(path, 'utf8').then(
      (text) => text.trim() || undefined,
      () => undefined,
    );
  const present = await read();
  if (present !== undefined || !create) return present;
  const temporary = `${path}.${randomUUID()}`;
  try {
    await mkdir(resolve(folder), { recursive: true });
    await writeFile(temporary, `${randomUUID()}\n`, { mode: 0o600 });
    // Another process may create it at the same time: the first one wins, and no process sees a partial file.
    await link(temporary, path);
  } catch {
    // Either the file exists now or the folder is not writable; the read below finds out.
  } finally {
    await rm(temporary, { force: true }).catch(() => undefined);
  }
  return read();
}

/**
 * Returns nothing for a missing folder or file: the first upload creates the folder, and a file may vanish during the
 * listing.
 */
function noneWhenMissing(error: unknown): [] {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
  throw error;
}
