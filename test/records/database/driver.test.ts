import { inspect } from 'node:util';
import * as t from 'io-ts';
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTcpRelay, throughRelay, type TcpRelay } from '../../../local/rehearsals/chaos/tcp-relay.ts';
import { isDatabaseUnavailable } from '../../../src/records/database/failure.ts';
import { createDatabase } from '../../../src/records/database/database.ts';
import { pingDatabase } from '../../support/ping-database.ts';
import { nothing, row } from '../../../src/records/database/row.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { openTcpCutter } from '../../support/tcp-cutter.ts';

let test: TestDatabase;
let relay: TcpRelay;
beforeAll(async () => {
  test = await createTestDatabase();
  const { hostname, port } = new URL(test.url);
  relay = await openTcpRelay({ host: hostname, port: Number(port) });
});
afterAll(async () => {
  await relay.close();
  await test.drop();
});

it('can be created before Postgres runs, rejects queries as unavailable meanwhile, and works once Postgres answers', async () => {
  await relay.set('gone');
  const database = await createDatabase(throughRelay(test.url, relay), 2);
  const refusal = await pingDatabase(database).catch((error: unknown) => error);
  expect(isDatabaseUnavailable(refusal)).toBe(true);
  await relay.set('open');
  await pingDatabase(database);
  await database.end();
});

it('rejects every caller, also those behind a full pool, when no connection can be opened', async () => {
  await relay.set('gone');
  const database = await createDatabase(throughRelay(test.url, relay), 2);
  const callers = await Promise.allSettled(Array.from({ length: 6 }, () => pingDatabase(database)));
  await relay.set('open');
  expect(callers.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 'rejected'));
  await Promise.all(Array.from({ length: 6 }, () => pingDatabase(database)));
  await database.end();
});

it('rejects as unavailable when its first connection is cut at any byte', async () => {
  const whole = await openTcpCutter(test.url, Infinity);
  const measured = await createDatabase(whole.url, 1);
  await pingDatabase(measured);
  const bytes = whole.sent();
  await measured.end();
  await whole.close();
  for (let cutAfter = 4; cutAfter < bytes; cutAfter += 12) {
    const cutter = await openTcpCutter(test.url, cutAfter);
    const database = await createDatabase(cutter.url, 1);
    const refusal = await pingDatabase(database).catch((error: unknown) => error);
    expect(isDatabaseUnavailable(refusal), `cut after ${cutAfter} bytes: ${String(refusal)}`).toBe(true);
    await Promise.all([database.end(), cutter.close()]);
  }
});

it('stays alive, and answers again, when idle connections are ended by the server', async () => {
  const database = await createDatabase(test.url, 3);
  await Promise.all([pingDatabase(database), pingDatabase(database), pingDatabase(database)]);
  await test.pool.query(sql.type(nothing)`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`);
  await expect.poll(() => database.state().idleConnections).toBe(0);
  await pingDatabase(database);
  await database.end();
});

const Read = row(
  t.type({ big: t.bigint, moment: t.number, wide: t.number, words: t.readonlyArray(t.string), none: t.null }),
);

it('reads int8 as bigint, timestamptz as epoch milliseconds, numeric as a number', async () => {
  await expect(
    test.pool.one(sql.type(Read)`
      SELECT 9007199254740993::int8 AS big, timestamptz '2026-01-31 12:00:00.5+01' AS moment, 1.5::numeric AS wide,
        ARRAY['a', 'b'] AS words, NULL::int8 AS none`),
  ).resolves.toEqual({
    big: 9007199254740993n,
    moment: Date.parse('2026-01-31T11:00:00.500Z'),
    wide: 1.5,
    words: ['a', 'b'],
    none: null,
  });
});

it('refuses two statements in one', async () => {
  await expect(test.pool.query(sql.type(nothing)`SELECT 1; SELECT 2`)).rejects.toThrow('multiple commands');
});

it('gives up a statement that is never answered, in a transaction too, and takes another connection', async () => {
  const database = await createDatabase(throughRelay(test.url, relay), 2, { answerTimeoutMs: 2_000 });
  await pingDatabase(database);
  const under = database.transaction(async (transaction) => {
    await pingDatabase(transaction);
    await relay.set('silent');
    await transaction.query(sql.type(nothing)`SELECT`);
  });
  const [inTransaction, alone] = await Promise.allSettled([under, pingDatabase(database)]);
  await relay.set('gone');
  await relay.set('open');
  for (const outcome of [inTransaction, alone]) {
    expect(outcome.status).toBe('rejected');
    expect(outcome.status === 'rejected' && isDatabaseUnavailable(outcome.reason)).toBe(true);
  }
  const answers = () =>
    pingDatabase(database).then(
      () => true,
      () => false,
    );
  await expect.poll(answers).toBe(true);
  expect(database.state().acquiredConnections).toBe(0);
  await database.end();
});

it('reveals nothing of a value that Postgres rejects', async () => {
  const person = '+49 1511 2345678';
  const refused = [
    sql.type(nothing)`SELECT ${person}::text::int4`,
    sql.type(nothing)`SELECT ${person}::text::uuid`,
    sql.type(nothing)`SELECT ${person}::text::timestamptz`,
  ];
  for (const statement of refused) {
    const refusal: unknown = await test.pool.query(statement).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(Error);
    expect(inspect(refusal, { depth: 10 })).not.toContain(person);
    expect(inspect(refusal, { depth: 10 })).toMatch(/22\w{3}/);
  }
});
