/** Storage of uploaded campaign files: a local folder by default, any S3-compatible store by configuration. */
import type { Readable } from 'node:stream';

export interface FileStorage {
  /** Streams `content` to `key`; resolves with the size in bytes once it is durable. Nothing remains when it rejects. */
  readonly write: (key: string, content: Readable) => Promise<number>;
  /** Undefined when there is no such file. */
  readonly read: (key: string) => Promise<Readable | undefined>;
  /** Nothing happens when there is no such file. */
  readonly delete: (key: string) => Promise<void>;
  /** Lists keys with `prefix` written before `before`, page by page. */
  readonly list: (old: {
    readonly prefix: string;
    readonly before: Date;
  }) => AsyncIterable<readonly string[]>;
  /** Removes incomplete writes of killed processes begun before `before`; resolves to their number. */
  readonly removeUnfinished: (old: { readonly prefix: string; readonly before: Date }) => Promise<number>;
  /** Rejects with StorageFailure when the store cannot be used. */
  readonly check: () => Promise<void>;
}
