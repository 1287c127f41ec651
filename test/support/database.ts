/** A database of its own for a test file: a clone of the migrated template, about 50 ms. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { createDatabase, type Database } from '../../src/records/database/database.ts';

export interface TestDatabase {
  readonly url: string;
  /** Open until `drop`. */
  readonly pool: Database;
  /** Closes the pool and removes the database, whoever is still connected. */
  readonly drop: () => Promise<void>;
}

/** Call it in `beforeAll` and `drop` in `afterAll`. */
export async function createTestDatabase({ poolSize = 5 } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await administer(`CREATE DATABASE ${name} TEMPLATE ${inject('templateDatabase')}`);
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${name}`;
  const pool = await createDatabase(url.href, poolSize);
  return {
    url: url.href,
    pool,
    drop: async () => {
      await pool.end();
      await administer(`DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
