import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prepareApplicationRole } from '../../../src/records/database/application-role.ts';
import { createDatabase } from '../../../src/records/database/database.ts';
import { nothing, row } from '../../../src/records/database/row.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const Setting = row(t.type({ value: t.string }));
const limits = {
  statement_timeout: '1min',
  idle_in_transaction_session_timeout: '5s',
  client_connection_check_interval: '5s',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
};

async function limitsOf(url: string) {
  const pool = await createDatabase(url, 1);
  const read = async (name: string) => [
    name,
    await pool.oneFirst(sql.type(Setting)`SELECT current_setting(${name}) AS value`),
  ];
  const found = Object.fromEntries(await Promise.all(Object.keys(limits).map(read)));
  await pool.end();
  return found;
}

describe('the role of the processes', () => {
  test('has its limits without asking for them', async () => {
    expect(await limitsOf(database.url)).toEqual(limits);
  });

  test.each([
    ['changes an entry of the ledger', sql.fragment`UPDATE ledger_entry SET amount = 1`],
    ['removes an entry of the ledger', sql.fragment`DELETE FROM ledger_entry`],
    ['empties a table', sql.fragment`TRUNCATE ledger_entry`],
    ['changes the schema', sql.fragment`CREATE TABLE mine (id int)`],
    ['calls a migration applied', sql.fragment`INSERT INTO migration (name, sha256) VALUES ('9999', '')`],
  ])('never %s', async (_what, statement) => {
    await expect(database.pool.query(sql.type(nothing)`${statement}`)).rejects.toMatchObject({
      code: '42501',
    });
  });
});

test('an owner whose URL is also that of the application gets the same limits', async () => {
  await prepareApplicationRole(database.ownerUrl, database.ownerUrl);
  expect(await limitsOf(database.ownerUrl)).toEqual(limits);
});

test('several migrators prepare the role at the same time', async () => {
  const prepare = () => prepareApplicationRole(database.ownerUrl, database.url);
  for (let round = 0; round < 5; round += 1) await Promise.all([prepare(), prepare(), prepare(), prepare()]);
  expect(await limitsOf(database.url)).toEqual(limits);
});
