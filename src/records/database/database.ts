/** The one place that configures Slonik. Records take a `Connection`: the pool, or a transaction of it. */
import { createPool, createTypeParserPreset, SchemaValidationError } from 'slonik';
import type {
  CommonQueryMethods,
  DatabasePool,
  DatabaseTransactionConnection,
  Interceptor,
  QueryResultRow,
} from 'slonik';
import { createDatabaseDriver } from './driver.ts';
import type { RowParser } from './row.ts';

export type Connection = CommonQueryMethods;
export type Transaction = DatabaseTransactionConnection;
export type Database = DatabasePool;

// Slonik 49 calls Promise.withResolvers, which Node has only from 22 on. Goes when Node 20 support goes.
Promise.withResolvers ??= function withResolvers<T>(this: PromiseConstructor) {
  let resolve!: (value: T | PromiseLike<T>) => void;
  let reject!: (reason?: unknown) => void;
  const promise = new this<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
};

const decodeRows: Interceptor = {
  name: 'decode-rows',
  transformRow: ({ resultParser }, query, row) => {
    const parser = resultParser as RowParser<QueryResultRow> | undefined;
    if (parser === undefined) return row;
    const result = parser['~standard'].validate(row);
    if (result instanceof Promise) throw new Error('Row codecs are synchronous');
    if (result.issues !== undefined) throw new SchemaValidationError(query, row, result.issues as never);
    return result.value;
  },
};

/**
 * int8 arrives as bigint, timestamptz as epoch milliseconds (`timestamp` in row.ts makes a Date of it),
 * numeric is never used. Nothing is retried behind the caller's back. Postgres need not answer yet.
 */
export async function createDatabase(
  databaseUrl: string,
  maxPoolSize: number,
  answerTimeoutMs = 65_000,
): Promise<Database> {
  return createPool(databaseUrl, {
    maxPoolSize,
    connectionRetryLimit: 0,
    idleTimeout: 30_000,
    queryRetryLimit: 0,
    transactionRetryLimit: 0,
    // No statement leaves anything in its session (locks and settings end with their transaction), so that there is nothing to
    // discard: the default is a round trip of its own for every query.
    resetConnection: async () => undefined,
    driverFactory: createDatabaseDriver({
      databaseUrl,
      connectTimeoutMs: 5_000,
      answerTimeoutMs,
    }),
    interceptors: [decodeRows],
    typeParsers: createTypeParserPreset(),
  });
}
