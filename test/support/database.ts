/** A database per test file: a clone of the migrated template, made in about 100 ms. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { limitApplication } from '../../src/records/database/application-role.ts';
import { createDatabase, type Database } from '../../src/records/database/database.ts';

export interface TestDatabase {
  readonly url: string;
  /** Pool of the application's role; open until `drop`. */
  readonly pool: Database;
  readonly ownerUrl: string;
  /** Pool of the superuser, for statements that the application's role may not run. */
  readonly owner: Database;
  /** Closes both pools and drops the database, ending other connections. */
  readonly drop: () => Promise<void>;
}

/** Call it in `beforeAll` and `drop` in `afterAll`. FILE_COPY: copying the many partitions through the WAL takes three times as long. */
export async function createTestDatabase({ poolSize = 5 } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await administer(`CREATE DATABASE ${name} TEMPLATE ${inject('templateDatabase')} STRATEGY FILE_COPY`);
  const [url, ownerUrl] = (['applicationUrl', 'postgresUrl'] as const).map((role) => {
    const { href } = Object.assign(new URL(inject(role)), { pathname: `/${name}` });
    return href;
  }) as [string, string];
  // A clone has its template's rights, but not the time limits of its roles.
  await limitApplication(url);
  const [pool, owner] = [await createDatabase(url, poolSize), await createDatabase(ownerUrl, 2)];
  return {
    url,
    pool,
    ownerUrl,
    owner,
    drop: async () => {
      await Promise.all([pool.end(), owner.end()]);
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
