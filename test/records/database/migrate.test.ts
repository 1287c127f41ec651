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

describe('a migration that needs an exclusive lock', () => {
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

  it('is applied by a later run once the transaction has ended, and only once', async () => {
    await whileSomebodyReads(() => expect(run()).rejects.toThrow('run it again'));
    expect(await run()).toEqual({ applied: ['0001_more.sql'] });
    expect(await columns()).toBe(3);
    expect(await run()).toEqual({ applied: [] });
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
    expect(await migrating).toEqual({ applied: ['0001_index.sql'] });
    expect(await indexes(true)).toBe(1);
  });

  it('leaves no index behind that could not be built', async () => {
    await file('0001_index.sql', index);
    await client.query(`INSERT INTO thing VALUES (1, 'same'), (2, 'same')`);
    await expect(run()).rejects.toThrow('0001_index.sql: could not create unique index');
    expect([await indexes(true), await indexes(false)]).toEqual([0, 0]);
  });

  it('rebuilds an index that a killed run has left invalid', async () => {
    await file('0001_index.sql', index);
    await client.query(`INSERT INTO thing VALUES (1, 'same'), (2, 'same')`);
    // The state that an interrupted run leaves.
    await client.query('CREATE UNIQUE INDEX CONCURRENTLY thing_name ON thing (name)').catch(() => undefined);
    expect(await indexes(false)).toBe(1);
    await client.query('DELETE FROM thing');
    expect(await run()).toEqual({ applied: ['0001_index.sql'] });
    expect([await indexes(true), await indexes(false)]).toEqual([1, 0]);
  });
});

it('refuses a file that was edited after it had been applied', async () => {
  await file('0001_more.sql', 'ALTER TABLE thing ADD COLUMN first int');
  await run();
  await file('0001_more.sql', 'ALTER TABLE thing ADD COLUMN second int');
  await expect(run()).rejects.toThrow('0001_more.sql was edited after it had been applied');
});

it('applies each file once when several run it at a time', async () => {
  await file('0001_more.sql', 'ALTER TABLE thing ADD COLUMN first int');
  const results = await Promise.all([run(), run(), run()]);
  expect(results.flatMap(({ applied }) => applied)).toEqual(['0001_more.sql']);
});

/** Runs `work` on connections that are cut after 4 bytes, 24 bytes and so on, until it succeeds. */
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

it('leaves no file half applied when it is killed at any time, and continues with the next file', async () => {
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

it('returns the pending files, or rejects without further effects when its connection is cut at any time', async () => {
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

describe('migrations after the baseline', () => {
  /** Blocks or rewrites a table under traffic, or removes what the previous release still uses. */
  const unsafe: readonly (readonly [string, RegExp, string])[] = [
    [
      'build an index without CONCURRENTLY',
      /CREATE (UNIQUE )?INDEX (?!CONCURRENTLY)/i,
      'CREATE INDEX a ON thing (id)',
    ],
    [
      'change the type of a column',
      /ALTER COLUMN \w+ (SET DATA )?TYPE/i,
      'ALTER TABLE thing ALTER COLUMN id TYPE text',
    ],
    [
      'make a column NOT NULL',
      /ALTER COLUMN \w+ SET NOT NULL/i,
      'ALTER TABLE thing ALTER COLUMN id SET NOT NULL',
    ],
    [
      'validate a constraint at once',
      /ADD CONSTRAINT(?![^;]*NOT VALID)[^;]*;/i,
      'ALTER TABLE thing ADD CONSTRAINT a CHECK (id > 0)',
    ],
    [
      'drop or rename a column or table',
      /DROP (COLUMN|TABLE)|RENAME (COLUMN|TO)/i,
      'ALTER TABLE thing DROP COLUMN id',
    ],
    ['lock a whole table', /LOCK TABLE|VACUUM FULL|CLUSTER /i, 'LOCK TABLE thing'],
  ];

  const isUnsafe = (sql: string, pattern: RegExp): boolean => {
    const text = sql.replaceAll(/--.*$/gm, '');
    // A table created in the same file is not in use yet.
    const created = [...text.matchAll(/CREATE TABLE (\w+)/gi)].map(([, table]) => table);
    return text
      .split(';')
      .map((statement) => `${statement};`)
      .some(
        (statement) =>
          pattern.test(statement) && !created.some((table) => new RegExp(`\\b${table}\\b`).test(statement)),
      );
  };

  it.each(unsafe)('do not %s', async (_what, pattern, example) => {
    expect(isUnsafe(`${example};`, pattern)).toBe(true);
    expect(isUnsafe(`CREATE TABLE thing (id int); ${example};`, pattern)).toBe(false);
    const names = (await readdir('sql')).filter((name) => name >= '0013' && name.endsWith('.sql'));
    const texts = await Promise.all(names.map((name) => readFile(join('sql', name), 'utf8')));
    expect(names.filter((_name, at) => isUnsafe(texts[at] ?? '', pattern))).toEqual([]);
  });
});
