/** Storage of uploaded campaign files: a local folder by default, any S3-compatible store by configuration. */
import type { Readable } from 'node:stream';
import { Failure } from '../domain/error.ts';

/** The file storage is unreachable or refuses access. The message is for the operator's log. */
export class StorageFailure extends Failure {}

export interface FileStorage {
  /** Streams `content` to `key`; resolves with the size in bytes once it is durable. Leaves nothing behind if it rejects. */
  readonly write: (key: string, content: Readable) => Promise<number>;
  /** Resolves to undefined if the file does not exist. */
  readonly read: (key: string) => Promise<Readable | undefined>;
  /** Does nothing if the file does not exist. */
  readonly delete: (key: string) => Promise<void>;
  /** Lists keys with `prefix` written before `before`, page by page. */
  readonly list: (old: {
    readonly prefix: string;
    readonly before: Date;
  }) => AsyncIterable<readonly string[]>;
  /** Removes incomplete writes of killed processes that began before `before`; resolves to their number. */
  readonly removeUnfinished: (old: { readonly prefix: string; readonly before: Date }) => Promise<number>;
  /** Rejects with StorageFailure if the store cannot be used. */
  readonly check: () => Promise<void>;
}

/** Wraps `storage` and calls `onFailure` for each failed call except lists. */
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
