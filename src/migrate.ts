/**
 * Applies sql/*.sql in order: one transaction per file, under an advisory lock, each file's checksum kept.
 * A file whose first line is `-- no-transaction` runs outside a transaction (CREATE INDEX CONCURRENTLY), statement by statement.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';

const lockKey = 7_240_915_233;

export class MigrationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MigrationError';
  }
}

export interface MigrationResult {
  /** Names of the files applied now. */
  readonly applied: readonly string[];
}

/** Throws MigrationError when an applied file was edited or a file fails; what was applied before it stays. */
export async function migrate(databaseUrl: string, folder: string): Promise<MigrationResult> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [lockKey]);
    await client.query(`CREATE TABLE IF NOT EXISTS migration (
      name text PRIMARY KEY, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`);
    const applied: string[] = [];
    const known = await appliedMigrations(client);
    for (const { name, text, sha256 } of await migrationFiles(folder)) {
      const before = known.get(name);
      if (before === sha256) continue;
      if (before !== undefined) throw new MigrationError(`${name} was edited after it had been applied`);
      await apply(client, name, text, sha256);
      applied.push(name);
    }
    return { applied };
  } finally {
    await client.end();
  }
}

/** Names of the files not applied yet; empty when the schema is up to date. */
export async function pendingMigrations(databaseUrl: string, folder: string): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    const files = await migrationFiles(folder);
    const { rows } = await client.query(`SELECT to_regclass('migration') IS NOT NULL AS present`);
    if (rows[0]?.present !== true) return files.map(({ name }) => name);
    const known = await appliedMigrations(client);
    return files.filter(({ name, sha256 }) => known.get(name) !== sha256).map(({ name }) => name);
  } finally {
    await client.end();
  }
}

async function appliedMigrations(client: pg.Client): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ name: string; sha256: string }>('SELECT name, sha256 FROM migration');
  return new Map(rows.map(({ name, sha256 }) => [name, sha256]));
}

async function migrationFiles(folder: string) {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).toSorted();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(folder, name), 'utf8');
      return { name, text, sha256: createHash('sha256').update(text).digest('hex') };
    }),
  );
}

async function apply(client: pg.Client, name: string, text: string, sha256: string): Promise<void> {
  try {
    // A migration that would wait for a lock behind live traffic gives up instead of stopping that traffic.
    await client.query(`SET lock_timeout = '5s'`);
    if (text.startsWith('-- no-transaction')) {
      for (const statement of text.split(/;\s*$/m).filter((part) => part.trim() !== ''))
        await client.query(statement);
      await client.query('INSERT INTO migration (name, sha256) VALUES ($1, $2)', [name, sha256]);
      return;
    }
    await client.query('BEGIN');
    await client.query('INSERT INTO migration (name, sha256) VALUES ($1, $2)', [name, sha256]);
    await client.query(text);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw new MigrationError(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
