/**
 * Idempotency-Key: the row of a key is written in the transaction of what its request creates, so that no crash can part
 * the two. Same key and body → the stored response; another body → 422; while the first runs → 409. Nothing is kept of a
 * refused request.
 */
import { hash } from 'node:crypto';
import { groupCalls } from '../../concurrency/group-calls.ts';
import { Conflict, IdempotencyMismatch, Invalid } from '../../domain/error.ts';
import type { Connection, Transaction } from '../../records/database/database.ts';
import {
  completeIdempotencyKey,
  deleteReservedIdempotencyKey,
  findIdempotencyKeys,
  insertIdempotencyKey,
  lockIdempotencyKey,
  type AnsweredKey,
  type IdempotencyRecord,
  type IdempotencyScope,
  type StoredResponse,
} from '../../records/workspaces/idempotency-keys.ts';
import type { JsonAnswer } from './endpoint.ts';
import { valuesOf } from './raw-headers.ts';

/** Without the header every function does nothing. */
export interface RequestIdempotency {
  /**
   * One statement or transaction: what is to be written together with what the request creates, for the answer the
   * handler is about to return. When it cannot be written, `taken` ends the request with the stored response, 409 or 422.
   */
  readonly answered: (answer: JsonAnswer) => AnsweredKey | undefined;
  readonly taken: () => Promise<never>;
  /** Called when the request is refused: one that was answered before gets that answer all the same. */
  readonly refused: () => Promise<void>;

  /**
   * Two phases, for a request that leaves the database in between: `reserve` in the transaction that claims
   * `resourceId`, then `complete` or, when the answer is an error that leaves nothing behind, `release`.
   */
  readonly reserve: (transaction: Transaction, resourceId: string) => Promise<void>;
  readonly complete: (connection: Connection, answer: JsonAnswer) => Promise<void>;
  readonly release: (connection: Connection) => Promise<void>;
  /**
   * An earlier request with this key reserved it and never came back: the handler must not act again but answer from
   * the record of `resourceId`, then `complete`.
   */
  readonly interrupted: { readonly resourceId: string } | undefined;
}

/** Ends the request with a stored response; thrown by `taken` and `reserve`, caught by the frame alone. */
export class Replay extends Error {
  readonly response: StoredResponse;
  constructor(response: StoredResponse) {
    super('This request was answered before');
    this.name = 'Replay';
    this.response = response;
  }
}

const nothingToDo = async (): Promise<void> => undefined;

export const noIdempotency: RequestIdempotency = {
  answered: () => undefined,
  taken: () => Promise.reject(new Error('There is no Idempotency-Key to be taken')),
  refused: nothingToDo,
  reserve: nothingToDo,
  complete: nothingToDo,
  release: nothingToDo,
  interrupted: undefined,
};

const header = 'idempotency-key';

/** Undefined without the header; empty, doubled, non-ASCII or over 255 characters → Invalid. */
export function idempotencyKeyOf(rawHeaders: readonly string[]): string | undefined {
  const values = valuesOf(rawHeaders, header);
  const [value] = values;
  if (value === undefined) return undefined;
  if (values.length > 1) throw Invalid.at('Idempotency-Key', 'Idempotency-Key must be sent once');
  if (!/^[\x20-\x7e]{1,255}$/.test(value)) {
    throw Invalid.at('Idempotency-Key', 'Idempotency-Key must be 1 to 255 ASCII characters');
  }
  return value;
}

/** `written` with what the request creates, or `reserved` before the request leaves the database. */
export type IdempotencyForm = 'written' | 'reserved';

export type FindKey = (scope: IdempotencyScope) => Promise<IdempotencyRecord | undefined>;

/** The keys of requests side by side are looked up together. */
export function createKeyFinder(connection: Connection): FindKey {
  return groupCalls((scopes: readonly IdempotencyScope[]) => findIdempotencyKeys(connection, scopes), {
    maxSize: 100,
    lanes: 1,
  });
}

interface IdempotencyOptions {
  readonly form: IdempotencyForm;
  readonly find: FindKey;
  readonly scope: IdempotencyScope;
  readonly rawBody: Buffer;
  /** An unfinished reservation that is older belongs to a process that died. */
  readonly longestRequestMs: number;
  /** The answer as it goes over the wire. */
  readonly serialise: (answer: JsonAnswer) => StoredResponse;
}

/**
 * A key that was taken before decides the request, whatever else is to be said about it: Replay, 409 or 422. A `reserved`
 * one is looked up at once, a `written` one when the request is refused or its write finds the key taken.
 */
export async function openIdempotency(options: IdempotencyOptions): Promise<RequestIdempotency> {
  const { form, find, scope, rawBody, longestRequestMs, serialise } = options;
  const requestSha256 = hash('sha256', rawBody, 'buffer');

  const judge = (record: IdempotencyRecord): { readonly resourceId: string } => {
    if (!record.requestSha256.equals(requestSha256)) throw new IdempotencyMismatch();
    if (record.response !== undefined) throw new Replay(record.response);
    if (record.resourceId === null || record.ageMs < longestRequestMs) throw stillRunning();
    return { resourceId: record.resourceId };
  };
  const lock = async (transaction: Transaction): Promise<void> => {
    const { locked, record } = await lockIdempotencyKey(transaction, scope);
    if (!locked) throw stillRunning();
    if (record !== undefined) {
      judge(record);
      throw stillRunning();
    }
  };
  const settle = async (): Promise<{ readonly resourceId: string } | undefined> => {
    const record = await find(scope);
    return record === undefined ? undefined : judge(record);
  };
  return {
    interrupted: form === 'reserved' ? await settle() : undefined,
    answered: (answer) => ({ ...scope, requestSha256, response: serialise(answer) }),
    taken: async () => {
      await settle();
      throw stillRunning();
    },
    refused: async () => {
      if (form === 'written') await settle();
    },
    reserve: async (transaction, resourceId) => {
      await lock(transaction);
      if (!(await insertIdempotencyKey(transaction, { ...scope, requestSha256, resourceId }))) {
        throw stillRunning();
      }
    },
    complete: (target, answer) => completeIdempotencyKey(target, { ...scope, response: serialise(answer) }),
    release: (target) => deleteReservedIdempotencyKey(target, scope),
  };
}

function stillRunning(): Conflict {
  return new Conflict('A request with this Idempotency-Key is still running');
}
