/** Configures Slonik. Functions in records/ take a `Connection`: the pool or one of its transactions. */
import { createPool, createTypeParserPreset, SchemaValidationError } from 'slonik';
import type {
  CommonQueryMethods,
  DatabasePool,
  DatabaseTransactionConnection,
  Interceptor,
  QueryResultRow,
} from 'slonik';
import { withPermits } from './bounded-pool.ts';
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
