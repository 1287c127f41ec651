import type { FileStorage } from './file-storage.ts';
import { StorageFailure } from './storage-failure.ts';

/** Wraps `storage` and calls `onFailure` for each call that it refused, except lists. */
export function countFailures(storage: FileStorage, onFailure: () => void): FileStorage {
  const counted =
    <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      try {
        return await call(...args);
      } catch (error) {
        if (error instanceof StorageFailure) onFailure();
        throw error;
      }
    };
  return {
    write: counted(storage.write),
    read: counted(storage.read),
    delete: counted(storage.delete),
    list: storage.list,
    removeUnfinished: counted(storage.removeUnfinished),
    check: counted(storage.check),
  };
}
