/** Configures Slonik. Functions in records/ take a `Connection`: the pool or one of its transactions. */
import {
  type CommonQueryMethods,
  ConnectionError,
  createPool,
  createTypeParserPreset,
  type DatabasePool,
  type DatabaseTransactionConnection,
  type Interceptor,
  type QueryResultRow,
  SchemaValidationError,
} from 'slonik';
import { callContext } from '../../concurrency/call-context.ts';
import { createKeyedSemaphore, type SemaphoreLimits } from '../../concurrency/keyed-semaphore.ts';
import { createDatabaseDriver, type DriverOptions } from './driver.ts';
import { decoderOf } from './row.ts';

export type Connection = CommonQueryMethods;
export type Transaction = DatabaseTransactionConnection;
export type Database = DatabasePool;

const decodeRows: Interceptor = {
  name: 'decode-rows',
  transformRow: ({ resultParser }, query, row) => {
    const decoder = decoderOf(resultParser);
    if (decoder === undefined) return row;
    const decoded = decoder.decode(row);
    if ('problems' in decoded) throw new SchemaValidationError(query, row, decoded.problems as never);
    return decoded.row as QueryResultRow;
  },
};

export interface DatabaseOptions extends Partial<Pick<DriverOptions, 'answerTimeoutMs' | 'onError'>> {
  /** A request that waits longer for a connection fails; default: `answerTimeoutMs`. */
  readonly permitWaitMs?: number;
  /** Connections for the requests of one workspace; default: as many as they leave free. */
  readonly perWorkspace?: number;
}

/**
 * Reads int8 as bigint and timestamptz as epoch milliseconds (`timestamp` in row.ts makes a Date of it); the schema has no
 * numeric columns. Slonik retries nothing. Resolves without connecting, so Postgres may still be starting.
 */
export async function createDatabase(
  databaseUrl: string,
  maxPoolSize: number,
  { answerTimeoutMs = 65_000, permitWaitMs = answerTimeoutMs, onError, perWorkspace }: DatabaseOptions = {},
): Promise<Database> {
  const pool = await createPool(databaseUrl, {
    maximumPoolSize: maxPoolSize,
    connectionRetryLimit: 0,
    idleTimeout: 30_000,
    queryRetryLimit: 0,
    transactionRetryLimit: 0,
    // Slonik would send DISCARD ALL after every query, a round trip each. Our statements leave nothing in the session: locks and
    // settings end with their transaction.
    resetConnection: async () => undefined,
    driverFactory: createDatabaseDriver({
      databaseUrl,
      connectTimeoutMs: 5_000,
      answerTimeoutMs,
      onError,
    }),
    interceptors: [decodeRows],
    typeParsers: createTypeParserPreset(),
  });
  return withPermits(pool, maxPoolSize, permitWaitMs, perWorkspace);
}

/*
 * Queues callers before Slonik's pool does. Slonik 47 wakes a queued caller only when a connection is released or destroyed, so
 * callers behind connections that could never be opened would wait for ever. With a permit for each connection its own queue
 * stays empty: a caller either gets a connection or the error of opening one.
 *
 * Requests of one workspace hold no more connections than they leave free, so that their statements, slow or waiting for locks,
 * leave the others to other workspaces.
 */

const connecting = [
  'any',
  'anyFirst',
  'connect',
  'exists',
  'many',
  'manyFirst',
  'maybeOne',
  'maybeOneFirst',
  'one',
  'oneFirst',
  'query',
  'transaction',
] as const;

/** `requestWaitMs`: a statement of a request that waits longer for a connection fails. */
function withPermits(
  pool: DatabasePool,
  connections: number,
  requestWaitMs: number,
  perKey: SemaphoreLimits['perKey'] = 'what it leaves',
): DatabasePool {
  const semaphore = createKeyedSemaphore({ total: connections, perKey, waiting: Infinity });
  const acquire = async (): Promise<(() => void) | undefined> => {
    const { workspaceId } = callContext();
    if (workspaceId === undefined) return semaphore.acquire([]);
    const limit = AbortSignal.timeout(requestWaitMs);
    return semaphore.acquire([workspaceId], limit).catch(() => {
      throw new ConnectionError('No connection of the workspace became free in time');
    });
  };
  const bounded = Object.create(pool) as Record<string, unknown>;
  for (const name of connecting) {
    const method = pool[name] as (...args: unknown[]) => Promise<unknown>;
    bounded[name] = async (...args: unknown[]) => {
      const release = await acquire();
      try {
        return await method(...args);
      } finally {
        release?.();
      }
    };
  }
  return bounded as unknown as DatabasePool;
}
