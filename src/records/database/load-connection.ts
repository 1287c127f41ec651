/**
 * A connection of its own for one bulk load, which is one transaction: COPY and a server-side cursor are not to be had from
 * the pool. `destroy` may come at any moment; Postgres then rolls back.
 */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import pg from 'pg';
import { withoutRow } from './driver-error.ts';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';

/**
 * Statements run in the order they are given. The first that fails is told by every later one: Postgres itself would say
 * of those only that the transaction is aborted.
 */
export interface LoadConnection {
  readonly rows: <R extends readonly unknown[]>(
    text: string,
    values?: readonly unknown[],
  ) => Promise<readonly R[]>;
  /** A COPY of rows of `createCopyRows`. */
  readonly copyRows: (statement: string, rows: Buffer) => Promise<void>;
  /** What `COPY … TO STDOUT` gives, as it arrives. */
  readonly copyOut: (statement: string) => AsyncIterable<Buffer>;
  /** Commits and closes. */
  readonly commit: () => Promise<void>;
  readonly destroy: () => void;
}

/** A process that hangs must not hold what it has locked for longer. */
const idleLimitOfHangingMs = 120_000;
/** A machine that is gone tells nobody, and a statement may take its time: only the network itself knows. */
const keepAliveIdleMs = 10_000;

/**
 * Begins the transaction. While the process lives it does, however long the other side of a load (a file, another connection)
 * takes; its limits end with it, because behind a pooler the session goes on to serve others.
 */
export async function openLoadConnection(
  databaseUrl: string,
  applicationName: string,
  idleLimitMs = idleLimitOfHangingMs,
): Promise<LoadConnection> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: 10_000,
    application_name: applicationName,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveIdleMs,
  });
  let failure: unknown;
  const fail = (error: unknown): void => {
    failure ??= error instanceof Error ? withoutRow(error) : error;
  };
  client.on('error', fail);
  await client.connect();
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection;
  let last: Promise<unknown> = Promise.resolve();
  let underWay = 0;
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    underWay += 1;
    const result = last.then(() => {
      if (failure !== undefined) throw failure;
      return work();
    });
    last = result.catch(fail).finally(() => {
      underWay -= 1;
    });
    return result;
  };
  const begin = `BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = ${idleLimitMs}`;
  try {
    await client.query(begin);
  } catch (error) {
    stream.destroy();
    throw error;
  }
  const signOfLife = setInterval(() => {
    if (underWay === 0) inTurn(() => client.query('SELECT')).catch(() => undefined);
  }, idleLimitMs / 4).unref();
  stream.once('close', () => clearInterval(signOfLife));
  return {
    rows: <R extends readonly unknown[]>(text: string, values: readonly unknown[] = []) =>
      inTurn(async () => {
        const { rows } = await client.query({ text, values: [...values], rowMode: 'array' });
        return rows as unknown as readonly R[];
      }),
    copyRows: (statement, rows) =>
      inTurn(async () => {
        const copy = client.query(copyFrom(statement));
        // Once it has failed, losing the connection must not count as unhandled.
        copy.on('error', () => undefined);
        copy.end(rows);
        await once(copy, 'finish');
      }),
    copyOut: (statement) => client.query(copyTo(statement)),
    commit: async () => {
      await inTurn(() => client.query('COMMIT'));
      await client.end();
    },
    destroy: () => void stream.destroy(),
  };
}

const collisions = new Set(['23505', '40P01', '40001']);

/** Another transaction wrote the same rows at the same time; what it wrote is to be seen now. */
export function isWriteCollision(error: unknown): boolean {
  return error instanceof pg.DatabaseError && collisions.has(error.code ?? '');
}
