/** A handler returns one of these answers. */
import type { Readable } from 'node:stream';

export type Headers = Readonly<Record<string, string>>;

/** A body that is not JSON. */
export interface ContentAnswer<S extends number = number> {
  readonly status: S;
  readonly content: string | Buffer | Readable;
  readonly contentType: string;
  readonly headers?: Headers;
}

export interface JsonAnswer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Headers;
}

export type Answer = JsonAnswer | ContentAnswer;
