import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDatabase } from '../../../src/records/database/database.ts';
import { migrate, MigrationError, pendingMigrations } from '../../../src/records/database/migrate.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { openTcpCutter } from '../../support/tcp-cutter.ts';

const quick = { lockTimeoutMs: 50, attempts: 3, pauseMs: 10 };

let database: TestDatabase;
let folder: string;
let client: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'messaging-campaigns-migrations-'));
  client = new pg.Client({ connectionString: database.ownerUrl });
  await client.connect();
  await client.query(
    'DROP TABLE IF EXISTS thing; DELETE FROM migration; CREATE TABLE thing (id int, name text)',
  );
});
afterEach(async () => {
  await client.end();
  await rm(folder, { recursive: true, force: true });
});

const file = (name: string, text: string) => writeFile(join(folder, name), text);
const run = () => migrate(database.ownerUrl, folder, { patience: quick });
const ask = async (text: string): Promise<unknown> => (await client.query(text)).rows[0]?.answer;
const columns = () =>
  ask(`SELECT count(*)::int AS answer FROM information_schema.columns WHERE table_name = 'thing'`);

/** A transaction that has read the table and stays open while `work` runs. */
async function whileSomebodyReads<T>(work: () => Promise<T>): Promise<T> {
  const reader = new pg.Client({ connectionString: database.ownerUrl });
  await reader.connect();
  try {
    await reader.query('BEGIN');
    await reader.query('SELECT FROM thing');
    return await work();
  } finally {
    await reader.end();
  }
}

describe('a migration that needs a table for itself', () => {
  beforeEach(() =>
    file(
      '0001_more.sql',
      'ALTER TABLE thing ADD COLUMN first int; ALTER TABLE thing ALTER COLUMN id SET NOT NULL;',
    ),
  );

  it('gives up while a long transaction holds it, says who does, and leaves nothing half done', async () => {
    const failure = await whileSomebodyReads(() => run().catch((error: unknown) => error));
    expect(failure).toBeInstanceOf(MigrationError);
    expect((failure as Error).message).toMatch(
      /^0001_more\.sql: others held its tables.*3 tries of 0\.05 s.*Nothing of it was applied; run it again.*pid \d+, idle in transaction/s,
    );
    expect(await columns()).toBe(2);
    expect(await ask('SELECT count(*)::int AS answer FROM migration')).toBe(0);
  });

  it('lets those who wait behind it go on after its time limit', async () => {
    await whileSomebodyReads(async () => {
      const migrating = migrate(database.ownerUrl, folder, {
        patience: { lockTimeoutMs: 200, attempts: 1, pauseMs: 0 },
      });
      const ended = migrating.catch(() => 'gave up');
      await expect
        .poll(() => ask('SELECT count(*)::int AS answer FROM pg_locks WHERE NOT granted'))
        .toBeGreaterThan(0);
      // Without a limit this would wait for as long as the reader reads.
      await client.query('SELECT FROM thing');
      expect(await ended).toBe('gave up');
    });
  });

  it('gets it between two short transactions, and is applied when it is run again', async () => {
    await whileSomebodyReads(() => expect(run()).rejects.toThrow('run it again'));
    expect(await run()).toEqual({ applied: ['0001_more.sql'], deferred: [] });
    expect(await columns()).toBe(3);
    expect(await run()).toEqual({ applied: [], deferred: [] });
  });
});

describe('a migration outside a transaction', () => {
  const index =
    '-- no-transaction\nCREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS thing_name ON thing (name);\n';
  const indexes = (valid: boolean) =>
    ask(
      `SELECT count(*)::int AS answer FROM pg_index WHERE indrelid = 'thing'::regclass AND indisvalid = ${valid}`,
    );

  it('builds an index while others write', async () => {
    await file('0001_index.sql', index);
    await client.query('BEGIN');
    await client.query(`INSERT INTO thing VALUES (1, 'one')`);
    const migrating = run();
    await client.query('COMMIT');
    expect(await migrating).toEqual({ applied: ['0001_index.sql'], deferred: [] });
    expect(await indexes(true)).toBe(1);
  });

  it('leaves no index behind that could not be built', async () => {
    await file('0001_index.sql', index);
    await client.query(`INSERT INTO thing VALUES (1, 'same'), (2, 'same')`);
    await expect(run()).rejects.toThrow('0001_index.sql: could not create unique index');
    expect([await indexes(true), await indexes(false)]).toEqual([0, 0]);
  });

  it('builds the index anew that a killed run has left unfinished', async () => {
    await file('0001_index.sql', index);
    await client.query(`INSERT INTO thing VALUES (1, 'same'), (2, 'same')`);
    // As a run leaves it that had no time to clear up.
    await client.query('CREATE UNIQUE INDEX CONCURRENTLY thing_name ON thing (name)').catch(() => undefined);
    expect(await indexes(false)).toBe(1);
    await client.query('DELETE FROM thing');
    expect(await run()).toEqual({ applied: ['0001_index.sql'], deferred: [] });
    expect([await indexes(true), await indexes(false)]).toEqual([1, 0]);
  });
});

it('refuses a file that was edited after it had been applied', async () => {
  await file('0001_more.sql', 'ALTER TABLE thing ADD COLUMN first int');
  await run();
  await file('0001_more.sql', 'ALTER TABLE thing ADD COLUMN second int');
  await expect(run()).rejects.toThrow('0001_more.sql was edited after it had been applied');
});

it('keeps what the release before could not live with for the call that finishes, but on a new database', async () => {
  await file('0001_more.sql', 'ALTER TABLE thing ADD COLUMN first int');
  const later = `-- no-transaction deferred\nDO $$ BEGIN\n  PERFORM 1;\nEND $$;\nALTER TABLE thing DROP COLUMN first;\n`;
  expect(await run()).toEqual({ applied: ['0001_more.sql'], deferred: [] });
  await file('0002_less.sql', later);
  expect(await run()).toEqual({ applied: [], deferred: ['0002_less.sql'] });
  expect(await pendingMigrations(database.pool, folder)).toEqual({
    pending: [],
    deferred: ['0002_less.sql'],
  });
  expect(await columns()).toBe(3);
  expect(await migrate(database.ownerUrl, folder, { finish: true })).toEqual({
    applied: ['0002_less.sql'],
    deferred: [],
  });
  expect(await columns()).toBe(2);
  await client.query('DELETE FROM migration; ALTER TABLE thing ADD COLUMN first int');
  await file('0001_more.sql', 'SELECT 1');
  expect(await run()).toEqual({ applied: ['0001_more.sql', '0002_less.sql'], deferred: [] });
});

it('applies each file once when several run it at a time', async () => {
  await file('0001_more.sql', 'ALTER TABLE thing ADD COLUMN first int');
  const results = await Promise.all([run(), run(), run()]);
  expect(results.flatMap(({ applied }) => applied)).toEqual(['0001_more.sql']);
});

/** Runs `work` on a connection that is cut after 4 bytes, after 24, and so on until it comes to its end. */
async function cutAnywhere(work: (url: string) => Promise<unknown>, afterEachCut = async () => {}) {
  for (let cutAfter = 4, cuts = 0; ; cutAfter += 20, cuts += 1) {
    const cutter = await openTcpCutter(database.ownerUrl, cutAfter);
    const whole = await work(cutter.url).then(
      () => true,
      () => false,
    );
    await cutter.close();
    if (whole) return cuts;
    await afterEachCut();
  }
}

it('leaves no file half applied when it is killed, whenever that is, and goes on where it was', async () => {
  await file(
    '0001_more.sql',
    'ALTER TABLE thing ADD COLUMN first int; ALTER TABLE thing ADD COLUMN second int',
  );
  await file(
    '0002_more.sql',
    'ALTER TABLE thing ADD COLUMN third int; ALTER TABLE thing ADD COLUMN fourth int',
  );
  const seen = new Set<unknown>();
  await cutAnywhere(
    (url) => migrate(url, folder, { patience: quick }),
    async () => {
      const applied = await ask('SELECT count(*)::int AS answer FROM migration');
      expect(await columns()).toBe(2 + 2 * Number(applied));
      seen.add(applied);
    },
  );
  expect([...seen]).toEqual([0, 1]);
  expect(await columns()).toBe(6);
});

it('tells what is pending, or fails and nothing more when its connection is cut, whenever that is', async () => {
  const cuts = await cutAnywhere(async (url) => {
    const pool = await createDatabase(url, 1);
    try {
      return await pendingMigrations(pool, folder);
    } finally {
      await pool.end();
    }
  });
  expect(cuts).toBeGreaterThan(5);
});

describe('the migrations since the first release', () => {
  /** What blocks or rewrites a table under traffic, or takes from under the release before what it still uses. */
  const unsafe: readonly (readonly [string, RegExp])[] = [
    ['an index that is not built concurrently', /CREATE (UNIQUE )?INDEX (?!CONCURRENTLY)/i],
    ['a column that changes its type', /ALTER COLUMN \w+ (SET DATA )?TYPE/i],
    ['a column that must not be null', /ALTER COLUMN \w+ SET NOT NULL/i],
    ['a constraint that is validated at once', /ADD CONSTRAINT(?![^;]*NOT VALID)[^;]*;/i],
    ['a column or table that goes or is renamed', /DROP (COLUMN|TABLE)|RENAME (COLUMN|TO)/i],
    ['a lock on a whole table', /LOCK TABLE|VACUUM FULL|CLUSTER /i],
  ];

  it.each(unsafe)('have no %s', async (_what, pattern) => {
    const names = (await readdir('sql')).filter((name) => name >= '0008' && name.endsWith('.sql'));
    expect(names.length).toBeGreaterThan(0);
    const texts = await Promise.all(names.map((name) => readFile(join('sql', name), 'utf8')));
    const found = names.filter((_name, at) => {
      // What waits for the release before to be gone is run under load by test/records/operations/partitions.test.ts.
      if (/^-- .*deferred\n/.test(texts[at] ?? '')) return false;
      const text = (texts[at] ?? '').replaceAll(/--.*$/gm, '');
      // What is made in the same file is nobody's yet.
      const fresh = [...text.matchAll(/CREATE TABLE (\w+)/gi)].map(([, table]) => table);
      const statements = text.split(';').map((statement) => `${statement};`);
      return statements.some(
        (statement) =>
          pattern.test(statement) && !fresh.some((table) => new RegExp(`\\b${table}\\b`).test(statement)),
      );
    });
    expect(found).toEqual([]);
  });
});
