/**
 * A connection of its own for one bulk load: COPY and a server-side cursor are not to be had from the pool.
 * `destroy` may come at any moment; Postgres then rolls back.
 */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';

export interface CopyWriter {
  /** Rows of `createCopyRows`; resolves when more may be written. */
  readonly write: (rows: Buffer) => Promise<void>;
  readonly end: () => Promise<void>;
}

/** Statements run in the order they are given; a `copy` must be ended before the next one. */
export interface LoadConnection {
  readonly rows: <R extends readonly unknown[]>(
    text: string,
    values?: readonly unknown[],
  ) => Promise<readonly R[]>;
  readonly copy: (statement: string) => CopyWriter;
  /** A COPY of rows that are all there. */
  readonly copyRows: (statement: string, rows: Buffer) => Promise<void>;
  /** What `COPY … TO STDOUT` gives, as it arrives. */
  readonly copyOut: (statement: string) => AsyncIterable<Buffer>;
  readonly end: () => Promise<void>;
  readonly destroy: () => void;
}

export async function openLoadConnection(
  databaseUrl: string,
  applicationName: string,
): Promise<LoadConnection> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: 10_000,
    application_name: applicationName,
    keepAlive: true,
    // A process that hangs must not hold what it has locked.
    idle_in_transaction_session_timeout: 120_000,
  });
  let lost: Error | undefined;
  client.on('error', (error) => {
    lost ??= error;
  });
  await client.connect();
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection;
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(() => {
      if (lost !== undefined) throw lost;
      return work();
    });
    last = result.catch(() => undefined);
    return result;
  };
  const copy = (statement: string): CopyWriter => copyWriter(client.query(copyFrom(statement)));
  return {
    rows: <R extends readonly unknown[]>(text: string, values: readonly unknown[] = []) =>
      inTurn(async () => {
        const { rows } = await client.query({ text, values: [...values], rowMode: 'array' });
        return rows as unknown as readonly R[];
      }),
    copy,
    copyRows: (statement, rows) =>
      inTurn(async () => {
        const writer = copy(statement);
        await writer.write(rows);
        await writer.end();
      }),
    copyOut: (statement) => client.query(copyTo(statement)),
    end: () => client.end(),
    destroy: () => void stream.destroy(),
  };
}

function copyWriter(copy: ReturnType<typeof copyFrom>): CopyWriter {
  let failure: Error | undefined;
  copy.on('error', (error) => {
    failure ??= error;
  });
  const check = (): void => {
    if (failure !== undefined) throw failure;
  };
  return {
    async write(rows) {
      check();
      if (!copy.write(rows)) await once(copy, 'drain');
      check();
    },
    async end() {
      check();
      copy.end();
      await once(copy, 'finish');
    },
  };
}

const collisions = new Set(['23505', '40P01', '40001']);

/** Another transaction wrote the same rows at the same time; what it wrote is to be seen now. */
export function isWriteCollision(error: unknown): boolean {
  return error instanceof pg.DatabaseError && collisions.has(error.code ?? '');
}
