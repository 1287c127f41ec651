import * as t from 'io-ts';
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type Database } from '../../src/records/database/database.ts';
import { row } from '../../src/records/database/row.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startPgbouncer, type Pgbouncer } from '../support/pgbouncer.ts';

let test: TestDatabase;
let pgbouncer: Pgbouncer;
let processes: readonly Database[];
beforeAll(async () => {
  test = await createTestDatabase();
  pgbouncer = await startPgbouncer(test.url, { serverConnections: 2 });
  processes = await Promise.all([createDatabase(pgbouncer.url, 4), createDatabase(pgbouncer.url, 4)]);
});
afterAll(async () => {
  for (const database of processes ?? []) await database.end();
  await pgbouncer?.stop();
  await test.drop();
});

const Value = row(t.type({ value: t.number }));

it('names no statement behind a pooler, where a name would be one of another process', async () => {
  const both = processes.map(async (database, process) => {
    const ask = async (value: number) =>
      process === 0
        ? database.one(sql.type(Value)`SELECT ${value}::int4 AS value`)
        : database.one(sql.type(Value)`SELECT -${value}::int4 AS value`);
    const answers = await Promise.all(Array.from({ length: 200 }, async (_, value) => ask(value)));
    expect(answers.map(({ value }) => Math.abs(value))).toEqual(
      Array.from({ length: 200 }, (_, value) => value),
    );
    expect(answers.every(({ value }) => (process === 0 ? value >= 0 : value <= 0))).toBe(true);
  });
  await Promise.all(both);
  const Count = row(t.type({ count: t.number }));
  const named = await processes[0]!.one(
    sql.type(Count)`SELECT count(*)::int4 AS count FROM pg_prepared_statements WHERE name <> ''`,
  );
  expect(named).toEqual({ count: 0 });
});
