/**
 * A dedicated connection for one bulk load in one transaction; Slonik's pool offers neither COPY nor cursors. `destroy` may be
 * called at any time; Postgres then rolls back.
 */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import pg from 'pg';
import { withoutRow } from './driver-error.ts';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';

/**
 * Statements run in the order of the calls. After a failure every later call rejects with the first error; Postgres would only
 * report that the transaction is aborted.
 */
export interface LoadConnection {
  readonly rows: <R extends readonly unknown[]>(
    text: string,
    values?: readonly unknown[],
  ) => Promise<readonly R[]>;
  /** Copies rows of `createCopyRows`. */
  readonly copyRows: (statement: string, rows: Buffer) => Promise<void>;
  /** Streams the output of `COPY … TO STDOUT`. Read it to the end before the commit. */
  readonly copyOut: (statement: string) => AsyncIterable<Buffer>;
  /** Commits, and keeps the connection for the next load. */
  readonly commit: () => Promise<void>;
  readonly destroy: () => void;
}

/** 120 s idle in transaction: a hanging process must not hold its locks longer. */
const idleLimitOfHangingMs = 120_000;
/** 10 s idle before TCP keep-alive probes: a statement may run long, so only probes detect a lost peer. */
const keepAliveIdleMs = 10_000;

/** Connections are reused: opening two for each small campaign would cost more than the rest of its preparation. */
interface Session {
  readonly client: pg.Client;
  readonly stream: Socket;
  failure: unknown;
  closing?: NodeJS.Timeout;
}

const idleForMs = 30_000;
const idleSessions = new Map<string, Session[]>();

async function connect(databaseUrl: string): Promise<Session> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveIdleMs,
  });
  const failed: { failure: unknown } = { failure: undefined };
  client.on('error', (error: unknown) => {
    failed.failure ??= error instanceof Error ? withoutRow(error) : error;
  });
  await client.connect();
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection;
  return Object.assign(failed, { client, stream });
}

function keep(databaseUrl: string, session: Session): void {
  const kept = idleSessions.get(databaseUrl) ?? [];
  idleSessions.set(databaseUrl, [...kept, session]);
  session.stream.unref();
  session.closing = setTimeout(() => {
    idleSessions.set(databaseUrl, idleSessions.get(databaseUrl)?.filter((other) => other !== session) ?? []);
    session.client.end().catch(() => undefined);
  }, idleForMs).unref();
}

/** Closes the idle connections. */
export async function closeLoadConnections(databaseUrl: string): Promise<void> {
  const kept = idleSessions.get(databaseUrl) ?? [];
  idleSessions.delete(databaseUrl);
  for (const { closing } of kept) clearTimeout(closing);
  await Promise.allSettled(
    kept.map(({ client, stream }) => {
      // Otherwise a process with nothing else to do would end here, with exit code 13.
      stream.ref();
      return client.end();
    }),
  );
}

/** Returns a session with an open transaction. If a kept connection is lost, it opens another. */
async function begin(databaseUrl: string, statement: string): Promise<Session> {
  const kept = idleSessions.get(databaseUrl)?.pop();
  clearTimeout(kept?.closing);
  const session = kept ?? (await connect(databaseUrl));
  try {
    session.stream.ref();
    if (session.failure !== undefined) throw session.failure;
    await session.client.query(statement);
    return session;
  } catch (error) {
    session.stream.destroy();
    if (kept === undefined) throw error;
    return begin(databaseUrl, statement);
  }
}

/**
 * Begins the transaction. It may stay idle while the other side of a load (a file, another connection) is slow. Its settings
 * are local to the transaction, because a pooler hands the session to others afterwards.
 */
export async function openLoadConnection(
  databaseUrl: string,
  applicationName: string,
  idleLimitMs = idleLimitOfHangingMs,
): Promise<LoadConnection> {
  const session = await begin(
    databaseUrl,
    `BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = ${idleLimitMs};
     SET LOCAL application_name = '${applicationName}'`,
  );
  const { client, stream } = session;
  let last: Promise<unknown> = Promise.resolve();
  let underWay = 0;
  let over = false;
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    underWay += 1;
    const result = last.then(() => {
      if (session.failure !== undefined) throw session.failure;
      return work();
    });
    last = result
      .catch((error: unknown) => {
        session.failure ??= error instanceof Error ? withoutRow(error) : error;
      })
      .finally(() => {
        underWay -= 1;
      });
    return result;
  };
  const signOfLife = setInterval(() => {
    if (underWay === 0) inTurn(() => client.query('SELECT')).catch(() => undefined);
  }, idleLimitMs / 4).unref();
  const destroy = (): void => {
    clearInterval(signOfLife);
    if (!over) stream.destroy();
    over = true;
  };
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
      try {
        await inTurn(() => client.query('COMMIT'));
      } catch (error) {
        destroy();
        throw error;
      }
      clearInterval(signOfLife);
      if (!over) keep(databaseUrl, session);
      over = true;
    },
    destroy,
  };
}

/** Unique violation, deadlock, serialization failure, lock timeout. */
const collisions = new Set(['23505', '40P01', '40001', '55P03']);

/** True when another transaction wrote, or locks, the same rows. */
export function isWriteCollision(error: unknown): boolean {
  return error instanceof pg.DatabaseError && collisions.has(error.code ?? '');
}

/** True when a value cannot be stored in any column, such as U+0000 in a text: a retry fails too. */
export function isRefusedValue(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code?.startsWith('22') === true;
}
