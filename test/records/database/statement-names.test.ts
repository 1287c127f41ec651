/** Statements have names where the connection is Postgres itself, and only those that are asked often. */
import * as t from 'io-ts';
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type Database } from '../../../src/records/database/database.ts';
import { createStatementNames } from '../../../src/records/database/driver.ts';
import { nothing, row } from '../../../src/records/database/row.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await createDatabase(test.url, 1);
});
afterAll(async () => {
  await database.end();
  await test.drop();
});

it('names a statement once it is run often', () => {
  const nameOf = createStatementNames({ often: 3 });
  expect([nameOf('a'), nameOf('a'), nameOf('b'), nameOf('a'), nameOf('a')]).toEqual([
    undefined,
    undefined,
    undefined,
    'often_0',
    'often_0',
  ]);
});

it('bounds the number of names and of counted statements', () => {
  const nameOf = createStatementNames({ often: 2, mostNames: 1, mostCounted: 2 });
  for (const text of ['a', 'b', 'c', 'a']) expect(nameOf(text)).toBeUndefined();
  expect(nameOf('a')).toBe('often_0');
  for (const text of ['d', 'd', 'd']) expect(nameOf(text)).toBeUndefined();
  expect(nameOf('a')).toBe('often_0');
});

const Value = row(t.type({ value: t.number }));
const Kept = row(t.type({ name: t.string, plans: t.number }));
const kept = () =>
  database.any(sql.type(Kept)`
    SELECT name, (generic_plans + custom_plans)::int4 AS plans FROM pg_prepared_statements WHERE statement LIKE '%asked often%'`);

it('prepares a statement that is run often once per session', async () => {
  const divide = (by: number) =>
    database.one(sql.type(Value)`SELECT 60 / ${by}::int4 AS value -- asked often`);
  for (let time = 1; time < 20; time += 1) await divide(1 + (time % 3));
  await expect(kept()).resolves.toEqual([]);
  await expect(divide(4)).resolves.toEqual({ value: 15 });
  await expect(divide(5)).resolves.toEqual({ value: 12 });
  await expect(kept()).resolves.toEqual([{ name: 'often_0', plans: 2 }]);
});

it('goes on in a new session when Postgres has ended the old one', async () => {
  const ask = () => database.one(sql.type(Value)`SELECT 1 AS value -- asked in two sessions`);
  for (let time = 0; time < 30; time += 1) await ask();
  await test.pool.query(sql.type(nothing)`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`);
  await expect.poll(() => database.state().idleConnections).toBe(0);
  await expect(ask()).resolves.toEqual({ value: 1 });
});
