/**
 * Applies sql/*.sql in order: one transaction per file, under an advisory lock, each file's checksum kept. A file whose first
 * line is `-- no-transaction` runs outside a transaction (CREATE INDEX CONCURRENTLY), statement by statement. Needs its own
 * session, so the URL must lead to Postgres itself, never to a pooler.
 */
import * as t from 'io-ts';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { sql } from 'slonik';
import { Failure } from '../../domain/error.ts';
import type { Connection } from './database.ts';
import { row } from './row.ts';

const lockKey = 7_240_915_233;
const lockNotAvailable = '55P03';
const deadlockDetected = '40P01';

export interface Patience {
  /**
   * While a migration waits for a lock on a table, all other statements on that table wait behind it. The wait is shorter
   * than Postgres' `deadlock_timeout` of a second, so in a deadlock the migration gives up first, not a client.
   */
  readonly lockTimeoutMs: number;
  readonly attempts: number;
  readonly pauseMs: number;
}

const defaultPatience: Patience = { lockTimeoutMs: 500, attempts: 40, pauseMs: 500 };

export class MigrationError extends Failure {}

export interface MigrationResult {
  /** Names of the files applied now. */
  readonly applied: readonly string[];
}

export interface MigrateOptions {
  readonly patience?: Patience;
}

/** Throws MigrationError when an applied file was edited or a file fails; what was applied before it stays. */
export async function migrate(
  databaseUrl: string,
  folder: string,
  { patience = defaultPatience }: MigrateOptions = {},
): Promise<MigrationResult> {
  const client = await connect({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
  try {
    // Building an index may take longer than the application role's statement_timeout, and that role may be the owner.
    await client.query('SET statement_timeout = 0');
    await client.query('SELECT pg_advisory_lock($1)', [lockKey]);
    await createMigrationTable(client);
    const applied: string[] = [];
    const known = await appliedMigrations(client);
    for (const { name, text, sha256 } of await migrationFiles(folder)) {
      const before = known.get(name);
      if (before === sha256) continue;
      if (before !== undefined) throw new MigrationError(`${name} was edited after it had been applied`);
      await apply(client, { name, text, sha256 }, patience);
      applied.push(name);
    }
    return { applied };
  } finally {
    await client.end();
  }
}

/** Checks first, so that a role without rights on the schema may run a migration that has nothing to apply. */
async function createMigrationTable(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ present: boolean }>(
    `SELECT to_regclass('migration') IS NOT NULL AS present`,
  );
  if (rows[0]?.present === true) return;
  await client.query(`CREATE TABLE migration (
    name text PRIMARY KEY, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`);
}

const Presence = row(t.type({ present: t.boolean }));
const Applied = row(t.type({ name: t.string, sha256: t.string }));

/** Names of the files not applied yet; empty when the processes can work. */
export async function pendingMigrations(connection: Connection, folder: string): Promise<readonly string[]> {
  const files = await migrationFiles(folder);
  const present = await connection.oneFirst(sql.type(Presence)`
    SELECT to_regclass('migration') IS NOT NULL AS present`);
  const applied = present ? await connection.any(sql.type(Applied)`SELECT name, sha256 FROM migration`) : [];
  const known = new Map(applied.map(({ name, sha256 }) => [name, sha256]));
  return files.filter(({ name, sha256 }) => known.get(name) !== sha256).map(({ name }) => name);
}

/** A lost connection fails its statement; without a listener for `error` it would also end the process. */
async function connect(options: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(options);
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

async function appliedMigrations(client: pg.Client): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ name: string; sha256: string }>('SELECT name, sha256 FROM migration');
  return new Map(rows.map(({ name, sha256 }) => [name, sha256]));
}

async function migrationFiles(folder: string): Promise<readonly MigrationFile[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).toSorted();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(folder, name), 'utf8');
      return { name, text, sha256: createHash('sha256').update(text).digest('hex') };
    }),
  );
}

interface MigrationFile {
  readonly name: string;
  readonly text: string;
  readonly sha256: string;
}

/** Tries again while another session holds the locks. Each try delays live traffic by at most `lockTimeoutMs`. */
async function apply(client: pg.Client, file: MigrationFile, patience: Patience): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await (isConcurrent(file)
        ? applyConcurrently(client, file)
        : applyAtOnce(client, file, patience));
    } catch (error) {
      const code = (error as { readonly code?: unknown }).code;
      const contended = code === lockNotAvailable || code === deadlockDetected;
      if (!contended) throw new MigrationError(`${file.name}: ${messageOf(error)}`);
      if (attempt === patience.attempts)
        throw new MigrationError(await explainContention(client, file, patience));
      await sleep(patience.pauseMs);
    }
  }
}

async function applyAtOnce(
  client: pg.Client,
  file: MigrationFile,
  { lockTimeoutMs }: Patience,
): Promise<void> {
  try {
    await client.query('BEGIN');
    await client.query(`SET LOCAL lock_timeout = '${lockTimeoutMs}ms'`);
    await note(client, file);
    await client.query(file.text);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** No session waits behind a CONCURRENTLY statement, so it needs no lock timeout. */
async function applyConcurrently(client: pg.Client, file: MigrationFile): Promise<void> {
  const dropLeftovers = () => dropInvalidIndexes(client, file);
  // A run that was killed leaves an invalid index, which `IF NOT EXISTS` would accept.
  await dropLeftovers();
  try {
    for (const statement of statementsOf(file)) await client.query(statement);
  } catch (error) {
    await dropLeftovers().catch(() => undefined);
    throw error;
  }
  await note(client, file);
}

/** An invalid index costs every write and serves no query. */
async function dropInvalidIndexes(client: pg.Client, { text }: MigrationFile): Promise<void> {
  const { rows } = await client.query<{ readonly name: string }>(
    'SELECT relname AS name FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE NOT indisvalid',
  );
  for (const { name } of rows)
    if (new RegExp(`\\b${name}\\b`).test(text))
      await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${client.escapeIdentifier(name)}`);
}

async function note(client: pg.Client, { name, sha256 }: MigrationFile): Promise<void> {
  await client.query('INSERT INTO migration (name, sha256) VALUES ($1, $2)', [name, sha256]);
}

/** Splits at semicolons that end a line, except inside dollar-quoted blocks. */
function statementsOf({ text }: MigrationFile): readonly string[] {
  const statements = text.match(/(?:\$\$[^]*?\$\$|(?!;\s*$)[^])+/gm) ?? [];
  return statements.filter((statement) => statement.trim() !== '');
}

function isConcurrent({ text }: Pick<MigrationFile, 'text'>): boolean {
  return text.startsWith('-- no-transaction');
}

async function explainContention(
  client: pg.Client,
  file: MigrationFile,
  { attempts, lockTimeoutMs }: Patience,
): Promise<string> {
  const { rows } = await client.query<{
    readonly pid: number;
    readonly state: string;
    readonly seconds: number;
  }>(
    `SELECT pid, state, extract(epoch FROM now() - xact_start)::int AS seconds FROM pg_stat_activity
    WHERE xact_start IS NOT NULL AND pid <> pg_backend_pid() AND datname = current_database()
    ORDER BY xact_start LIMIT 1`,
  );
  const [oldest] = rows;
  const who =
    oldest === undefined
      ? ''
      : ` The oldest transaction has been open for ${oldest.seconds} s (pid ${oldest.pid}, ${oldest.state}).`;
  const applied = isConcurrent(file)
    ? 'What it has done stays; run it again.'
    : 'Nothing of it was applied; run it again.';
  return (
    `${file.name}: others held its tables, and it gave up after ${attempts} tries of ${lockTimeoutMs / 1000} s. ` +
    `${applied}${who}`
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The folder of migrations, found upwards from this file: the sources and their compiled form lie at different depths. */
export function sqlFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('No package.json above the program');
    folder = parent;
  }
  return join(folder, 'sql');
}
