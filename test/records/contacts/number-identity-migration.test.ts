/** The migration that gives contacts of 1.0.0 their identity, on their rows. */
import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { sql } from 'slonik';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { seedCampaign } from '../../support/campaign-factory.ts';
import { rowsOf } from '../../support/callback-fixtures.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
let client: pg.Client;
let statement: string;
let workspaceId: number;
beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.ownerUrl });
  await client.connect();
  const text = await readFile('sql/0027_number_identity.sql', 'utf8');
  statement = text.slice(text.indexOf('DO $$'));
});
afterAll(async () => {
  await client.end();
  await database.drop();
});
beforeEach(async () => {
  ({ workspaceId } = await seedCampaign(database.pool, { recipients: 1 }));
});

/** Oldest first, with nothing that 1.0.0 does not write. */
async function store(...numbers: readonly string[]): Promise<void> {
  for (const [at, number] of numbers.entries())
    await client.query(
      `INSERT INTO contact (workspace_id, phone_number, source, created_at)
       VALUES ($1, $2, 'incoming', timestamptz '2026-01-01' + $3 * interval '1 day')`,
      [workspaceId, number, at],
    );
}

const contacts = () =>
  rowsOf(
    database.pool,
    sql.fragment`SELECT phone_number, identity, country_code, country, former_numbers FROM contact
      WHERE workspace_id = ${workspaceId} AND source = 'incoming' ORDER BY created_at`,
  );

const unchanged = { country_code: '', country: '', former_numbers: null };

it('gives a contact under a former number the present one, its country and its identity', async () => {
  await store('5213312345601', '24106123456', '37744123456', '551187654321', '22507130401');
  await client.query(
    `INSERT INTO contact_identity (workspace_id, provider_id, contact_id)
     SELECT workspace_id, '5219999999999', id FROM contact WHERE workspace_id = $1 AND phone_number = '5213312345601'`,
    [workspaceId],
  );
  await client.query(statement);
  const rewritten = (number: string, former: string, country_code: string, country: string) => ({
    phone_number: number,
    identity: number,
    country_code,
    country,
    former_numbers: [former],
  });
  expect(await contacts()).toEqual([
    rewritten('523312345601', '5213312345601', '52', 'MX'),
    rewritten('24166123456', '24106123456', '241', 'GA'),
    rewritten('38344123456', '37744123456', '383', 'XK'),
    rewritten('5511987654321', '551187654321', '55', 'BR'),
    rewritten('2250707130401', '22507130401', '225', 'CI'),
  ]);
  // 1.0.0 finds a person by the former number among the ids.
  const ids = sql.fragment`SELECT provider_id FROM contact_identity WHERE workspace_id = ${workspaceId} ORDER BY 1`;
  expect(await rowsOf(database.pool, ids)).toEqual(
    ['22507130401', '24106123456', '37744123456', '5213312345601', '5219999999999', '551187654321'].map(
      (provider_id) => ({ provider_id }),
    ),
  );
});

it('leaves the number of somebody who opted out as 1.0.0 looks for it', async () => {
  await store('24107123456');
  await client.query(
    `UPDATE contact SET subscribed = false WHERE workspace_id = $1 AND source = 'incoming'`,
    [workspaceId],
  );
  await client.query(statement);
  expect(await contacts()).toEqual([{ ...unchanged, phone_number: '24107123456', identity: '24177123456' }]);
});

it('leaves numbers that are in use as they are, and others alone', async () => {
  await store('5491123456789', '541112345678', '972599123456', '4915112345678', '551133334444');
  await client.query(statement);
  expect(await contacts()).toEqual([
    { ...unchanged, phone_number: '5491123456789', identity: '541123456789' },
    { ...unchanged, phone_number: '541112345678', identity: '541112345678' },
    { ...unchanged, phone_number: '972599123456', identity: '970599123456' },
    { ...unchanged, phone_number: '4915112345678', identity: null },
    { ...unchanged, phone_number: '551133334444', identity: null },
  ]);
});

it('keeps two contacts of one person, and changes nothing when it runs again', async () => {
  await store('523312345601', '5213312345601', '5491123456789', '541123456789');
  for (let run = 0; run < 2; run += 1) {
    await client.query(statement);
    expect(await contacts()).toEqual([
      { ...unchanged, phone_number: '523312345601', identity: '523312345601' },
      { ...unchanged, phone_number: '5213312345601', identity: null },
      { ...unchanged, phone_number: '5491123456789', identity: '541123456789' },
      { ...unchanged, phone_number: '541123456789', identity: null },
    ]);
  }
});

it('leaves a contact that somebody has locked to a later run', async () => {
  await store('5213312345601', '5213312345602');
  const holder = new pg.Client({ connectionString: database.ownerUrl });
  await holder.connect();
  try {
    await holder.query('BEGIN');
    await holder.query(
      `SELECT FROM contact WHERE workspace_id = $1 AND phone_number = '5213312345601' FOR NO KEY UPDATE`,
      [workspaceId],
    );
    await client.query(statement);
    expect(await contacts()).toMatchObject([
      { phone_number: '5213312345601', identity: null },
      { phone_number: '523312345602' },
    ]);
  } finally {
    await holder.end();
  }
  await client.query(statement);
  expect(await contacts()).toMatchObject([
    { phone_number: '523312345601' },
    { phone_number: '523312345602' },
  ]);
});

it('forgets the identity of a number that 1.0.0 replaces', async () => {
  await store('5213312345601');
  await client.query(statement);
  await client.query(
    `UPDATE contact SET phone_number = '4915112345678' WHERE workspace_id = $1 AND source = 'incoming'`,
    [workspaceId],
  );
  expect(await contacts()).toMatchObject([{ phone_number: '4915112345678', identity: null }]);
});
