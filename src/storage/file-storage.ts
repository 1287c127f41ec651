/** Where uploaded campaign files lie: a local folder by default, any S3-compatible store by configuration. */
import type { Readable } from 'node:stream';

export interface FileStorage {
  /** Streams `content` to `key`; resolves with the size in bytes once it is durable. Nothing remains when it rejects. */
  readonly write: (key: string, content: Readable) => Promise<number>;
  /** Undefined when there is no such file. */
  readonly read: (key: string) => Promise<Readable | undefined>;
  /** Nothing happens when there is no such file. */
  readonly delete: (key: string) => Promise<void>;
  /** Keys that begin with `prefix` and were written before that moment, a page at a time. */
  readonly list: (old: {
    readonly prefix: string;
    readonly before: Date;
  }) => AsyncIterable<readonly string[]>;
  /** Removes what is left of writes whose process was killed, begun before that moment; resolves with how many. */
  readonly removeUnfinished: (old: { readonly prefix: string; readonly before: Date }) => Promise<number>;
  /** Rejects with StorageFailure when the store cannot be used. */
  readonly check: () => Promise<void>;
}
