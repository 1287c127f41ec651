/**
 * Idempotency-Key: the row of a key is written in the transaction of what its request creates, so that no crash can part
 * the two. Same key and body → the stored response; another body → 422; while the first runs → 409. Nothing is kept of a
 * refused request.
 */
import { hash } from 'node:crypto';
import { Conflict, IdempotencyMismatch, Invalid, Failure } from '../../domain/error.ts';
import type { Connection, Database, Transaction } from '../../records/database/database.ts';
import {
  completeIdempotencyKey,
  deleteReservedIdempotencyKey,
  findIdempotencyKey,
  insertIdempotencyKey,
  lockIdempotencyKey,
  type IdempotencyRecord,
  type IdempotencyScope,
  type StoredResponse,
} from '../../records/workspaces/idempotency-keys.ts';
import type { JsonAnswer, RequestIdempotency } from './endpoint.ts';
import { valuesOf } from './state.ts';

/** Ends the request with a stored response; caught by the frame alone. */
export class Replay extends Failure {
  readonly response: StoredResponse;
  constructor(response: StoredResponse) {
    super('This request was answered before');
    this.response = response;
  }
}

/** Runs `create` in a transaction and stores its answer under the key, so that a repeated request creates nothing. */
export const createOnce = <const A extends JsonAnswer>(
  database: Database,
  { storeAnswer }: RequestIdempotency,
  create: (transaction: Transaction) => Promise<A>,
): Promise<A> =>
  database.transaction(async (transaction) => {
    const answer = await create(transaction);
    await storeAnswer?.(transaction, answer);
    return answer;
  });

const nothingToDo = async (): Promise<void> => undefined;

export const noIdempotency: RequestIdempotency = {
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

interface IdempotencyOptions {
  readonly connection: Connection;
  readonly scope: IdempotencyScope;
  readonly rawBody: Buffer;
  /** An unfinished reservation that is older belongs to a process that died. */
  readonly longestRequestMs: number;
  /** The answer as it goes over the wire. */
  readonly serialise: (answer: JsonAnswer) => Promise<StoredResponse>;
}

/** If the key was used before, its row alone decides the answer: Replay, 409 or 422, even if the request has other problems. */
export async function openIdempotency(options: IdempotencyOptions): Promise<RequestIdempotency> {
  const { connection, scope, rawBody, longestRequestMs, serialise } = options;
  const requestSha256 = hash('sha256', rawBody, 'buffer');

  const checkRecord = (record: IdempotencyRecord): { readonly resourceId: string } => {
    if (!record.requestSha256.equals(requestSha256)) throw new IdempotencyMismatch();
    if (record.response !== undefined) throw new Replay(record.response);
    if (record.resourceId === null || record.ageMs < longestRequestMs) throw stillRunning();
    return { resourceId: record.resourceId };
  };
  const take = async (
    transaction: Transaction,
    outcome: { readonly resourceId: string } | { readonly response: StoredResponse },
  ): Promise<void> => {
    const { locked, record } = await lockIdempotencyKey(transaction, scope);
    if (locked && record !== undefined) checkRecord(record);
    const taken =
      locked && record === undefined
        ? await insertIdempotencyKey(transaction, { ...scope, requestSha256, ...outcome })
        : false;
    if (!taken) throw stillRunning();
  };
  const before = await findIdempotencyKey(connection, scope);
  return {
    interrupted: before === undefined ? undefined : checkRecord(before),
    storeAnswer: async (transaction, answer) => take(transaction, { response: await serialise(answer) }),
    reserve: (transaction, resourceId) => take(transaction, { resourceId }),
    complete: async (target, answer) =>
      completeIdempotencyKey(target, { ...scope, response: await serialise(answer) }),
    release: (target) => deleteReservedIdempotencyKey(target, scope),
  };
}

function stillRunning(): Conflict {
  return new Conflict(
    'A request with this Idempotency-Key is still running: send it again',
    'idempotency_conflict',
  );
}
