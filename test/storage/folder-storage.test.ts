import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createFolderStorage } from '../../src/storage/folder-storage.ts';
import { StorageFailure } from '../../src/storage/file-storage.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'messaging-campaigns-files-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const yesterday = new Date(Date.now() - 86_400_000);
const old = { prefix: 'csv_', before: yesterday };
async function pagesOf<T>(pages: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const page of pages) all.push(page);
  return all;
}
const makeOld = (name: string) => utimes(join(folder, name), new Date(0), new Date(0));

it('removes the remains of an old write, and nothing of a running one', async () => {
  const storage = createFolderStorage(folder);
  const [dead, alive] = [new PassThrough(), new PassThrough()];
  const killed = storage.write('csv_dead.csv', dead).catch((error: Error) => error.message);
  await expect.poll(() => readdir(folder)).toHaveLength(1);
  const [left = ''] = await readdir(folder);
  await makeOld(left);
  const written = storage.write('csv_alive.csv', alive);
  alive.write('phone\n');
  await expect.poll(() => readdir(folder)).toHaveLength(2);
  await writeFile(join(folder, '.of-somebody-else.partial'), '');
  await makeOld('.of-somebody-else.partial');

  expect(await storage.removeUnfinished(old)).toBe(1);
  alive.end('+491511234567\n');
  expect(await written).toBe(20);
  expect((await readdir(folder)).toSorted()).toEqual(['.of-somebody-else.partial', 'csv_alive.csv']);
  dead.destroy(new Error('cut'));
  expect(await killed).toBe('cut');
});

it('rejects with StorageFailure where the folder takes no file, and passes on a fault of the content', async () => {
  await writeFile(join(folder, 'file'), '');
  const write = createFolderStorage(join(folder, 'file', 'files')).write('csv_a.csv', Readable.from(['a']));
  await expect(write).rejects.toThrow(StorageFailure);
  await expect(write).rejects.toThrow(/cannot be kept in the folder .*: ENOTDIR/);
  const read = createFolderStorage(join(folder, 'file', 'files')).read('csv_a.csv');
  await expect(read).rejects.toThrow(StorageFailure);
  const cut = new Readable({ read: () => cut.destroy(new Error('cut')) });
  await expect(createFolderStorage(folder).write('csv_b.csv', cut)).rejects.toThrow(/^cut$/);
});

it('lists only the keys of old files, and nothing when the folder was never made', async () => {
  const storage = createFolderStorage(folder);
  for (const name of ['csv_old.csv', 'csv_new.csv', 'other_old.csv']) {
    await storage.write(name, Readable.from([Buffer.from('phone\n')]));
  }
  await Promise.all([makeOld('csv_old.csv'), makeOld('other_old.csv')]);
  expect(await pagesOf(storage.list(old))).toEqual([['csv_old.csv']]);

  const nowhere = createFolderStorage(join(folder, 'nowhere'));
  expect(await pagesOf(nowhere.list(old))).toEqual([[]]);
  expect(await nowhere.removeUnfinished(old)).toBe(0);
});
