/** Describes why a database cannot be used, in one sentence without its password. */
import pg from 'pg';
import { MigrationError } from '../../../src/records/database/migrate.ts';
import { minimumPostgresMajor } from './binaries.ts';
import { StackError } from '../error.ts';

/** Throws StackError when DATABASE_URL cannot be connected to. */
export async function requireDatabase(databaseUrl: string): Promise<void> {
  let client: pg.Client;
  try {
    client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
  } catch {
    throw new StackError(
      'DATABASE_URL is not a Postgres URL: it has the form postgres://user:password@host:port/database.',
    );
  }
  try {
    await client.connect();
    const { rows } = await client.query<{ version: number }>(
      `SELECT current_setting('server_version_num')::int AS version`,
    );
    const version = rows[0]?.version ?? 0;
    const major = Math.floor(version / 10_000);
    if (major < minimumPostgresMajor) {
      throw new StackError(
        `DATABASE_URL leads to Postgres ${major}, but ${minimumPostgresMajor} or newer is needed: use a newer one, or unset it.`,
      );
    }
  } catch (error) {
    throw databaseProblem(databaseUrl, error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

export function databaseProblem(databaseUrl: string, error: unknown): StackError {
  if (error instanceof StackError) return error;
  const cause = error instanceof AggregateError ? error.errors[0] : error;
  const { code = '', message = String(error) } = (cause ?? {}) as { code?: string; message?: string };
  if (error instanceof MigrationError) {
    return new StackError(
      `The database could not be brought up to date: ${message}. Use the version of this program that made it, or an empty database.`,
      { cause: error },
    );
  }
  const { host, name, user } = describe(databaseUrl);
  const sentences: Readonly<Record<string, string>> = {
    ECONNREFUSED: `No Postgres answers at ${host}: start it, or correct DATABASE_URL, or unset it to use the embedded one.`,
    ENOTFOUND: `There is no host ${host}: correct DATABASE_URL, or unset it to use the embedded Postgres.`,
    EAI_AGAIN: `The host ${host} cannot be looked up: correct DATABASE_URL, or unset it to use the embedded Postgres.`,
    '28P01': `Postgres at ${host} refuses the password of user ${user}: correct DATABASE_URL.`,
    '28000': `Postgres at ${host} does not let user ${user} in: correct DATABASE_URL.`,
    '3D000': `There is no database ${name} at ${host}: create it, or correct DATABASE_URL.`,
    '42501': `User ${user} may not do this in database ${name}: give it the right to create tables, or correct DATABASE_URL.`,
    '53100': 'The disk of Postgres is full: make room and start again.',
  };
  const sentence =
    sentences[code] ?? `The database ${name} at ${host} cannot be used (${message}): check DATABASE_URL.`;
  return new StackError(sentence, { cause: error });
}

function describe(databaseUrl: string): { host: string; name: string; user: string } {
  const { host, pathname, username } = new URL(databaseUrl);
  return { host: host === '' ? 'localhost' : host, name: pathname.slice(1), user: username };
}
