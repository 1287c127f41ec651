import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { countFailures, type FileStorage, StorageFailure } from '../../src/storage/file-storage.ts';

const refuse = () => Promise.reject(new StorageFailure('no disk space'));
const storage: FileStorage = {
  write: refuse,
  check: refuse,
  read: () => Promise.resolve(undefined),
  delete: () => Promise.reject(new Error('a defect of the code')),
  list: async function* list() {},
  removeUnfinished: () => Promise.resolve(0),
};

it('counts the calls that the storage refused, and no other', async () => {
  let failures = 0;
  const counted = countFailures(storage, () => {
    failures += 1;
  });
  await expect(counted.write('key', Readable.from([]))).rejects.toThrow('no disk space');
  await expect(counted.check()).rejects.toThrow('no disk space');
  await expect(counted.delete('key')).rejects.toThrow('a defect');
  expect(await counted.read('key')).toBeUndefined();
  expect(failures).toBe(2);
});
