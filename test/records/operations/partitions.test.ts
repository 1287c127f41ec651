/** Daily partitions of events, deliveries and callbacks: created ahead and dropped by age. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { nothing, row } from '../../../src/records/database/row.ts';
import {
  countDaysAhead,
  dropPartitions,
  makePartitions,
  partitionedTables,
} from '../../../src/records/operations/retention.ts';
import { fanOutEvents } from '../../../src/records/webhooks/events.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { makeConfiguration, makeWorkspace } from '../../support/webhook-fixtures.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ poolSize: 10 });
});
afterAll(() => database.drop());

const Text = row(t.type({ text: t.string }));
const texts = (query: ReturnType<typeof sql.fragment>) =>
  database.owner.anyFirst(sql.type(Text)`SELECT text::text FROM (${query}) AS given (text)`);
const change = (statement: ReturnType<typeof sql.fragment>) =>
  database.owner.query(sql.type(nothing)`${statement}`);
const daysOf = (table: string) =>
  texts(sql.fragment`SELECT replace(inhrelid::regclass::text, ${`${table}_`}, '') FROM pg_inherits
    WHERE inhparent = ${table}::regclass ORDER BY 1`);
const dayName = (ahead: number): string =>
  new Date(Date.now() + ahead * dayMs).toISOString().slice(0, 10).replaceAll('-', '');

const week = [1, 2, 3, 4, 5, 6, 7];

/** Adds the partition of a day in the past, which `makePartitions` does not. */
const addDay = (table: string, ago: number) =>
  change(
    sql.fragment`DO ${sql.literalValue(`
    BEGIN
      EXECUTE format('CREATE TABLE %I PARTITION OF ${table} FOR VALUES FROM (%s) TO (%s)',
        '${table}' || to_char(current_date - ${ago}, '_YYYYMMDD'),
        partition_bound('${table}', current_date - ${ago}), partition_bound('${table}', current_date - ${ago - 1}));
    END`)}`,
  );

const dayMs = 86_400_000;

describe('daily partitions', () => {
  beforeEach(async () => {
    // A test that begins just before midnight would end on another day.
    const leftMs = dayMs - (Date.now() % dayMs);
    if (leftMs < 20_000) await sleep(leftMs);
    for (const table of partitionedTables) {
      const names = await texts(sql.fragment`SELECT inhrelid::regclass FROM pg_inherits
        WHERE inhparent = ${table}::regclass AND inhrelid::regclass::text NOT LIKE '%default'`);
      for (const name of names) await change(sql.fragment`DROP TABLE ${sql.identifier([name])}`);
      await change(sql.fragment`TRUNCATE ${sql.identifier([table])}`);
      await makePartitions(database.pool, table);
    }
    await change(sql.fragment`TRUNCATE waiting_callback`);
  });

  it.each(partitionedTables)(
    'of %s are created a week ahead, with the table’s indexes and settings',
    async (table) => {
      expect(await daysOf(table)).toEqual([...[0, ...week].map(dayName), 'default']);
      await makePartitions(database.pool, table);
      expect(await daysOf(table)).toHaveLength(9);
      expect((await countDaysAhead(database.pool)).find((one) => one.table === table)).toEqual({
        table,
        days: 7,
      });
      const like = (name: string) =>
        texts(sql.fragment`
        SELECT reloptions::text FROM pg_class WHERE oid = ${name}::regclass
        UNION ALL SELECT count(*)::text FROM pg_index WHERE indrelid = ${name}::regclass AND indisvalid`);
      expect(await like(`${table}_${dayName(2)}`)).toEqual(await like(`${table}_default`));
    },
  );

  it('cannot be created or dropped by the application’s role', async () => {
    const attempts = [
      sql.fragment`CREATE TABLE event_19990101 PARTITION OF event FOR VALUES FROM (MINVALUE) TO (first_id_of('1999-01-02'))`,
      sql.fragment`DROP TABLE event_default`,
      sql.fragment`SELECT make_partitions('recipient')`,
    ];
    for (const attempt of attempts)
      await expect(database.pool.query(sql.type(nothing)`${attempt}`)).rejects.toThrow();
  });

  it('are not created for days that have begun: their rows stay in the default partition', async () => {
    await change(sql.fragment`DROP TABLE ${sql.identifier([`event_${dayName(0)}`])}`);
    await change(sql.fragment`DROP TABLE ${sql.identifier([`event_${dayName(3)}`])}`);
    await change(sql.fragment`INSERT INTO event (workspace_id, key, body) VALUES (1, 'sent', '{}')`);
    await makePartitions(database.pool, 'event');
    expect(await daysOf('event')).toEqual([...week.map(dayName), 'default']);
  });

  it('are dropped once the whole day has expired and nothing in it is open', async () => {
    for (const table of partitionedTables) for (const ago of [30, 31, 32]) await addDay(table, ago);
    const past = (ago: number) => sql.fragment`current_date - ${ago}::int + time '12:00'`;
    const id = (ago: number) => sql.fragment`uuidv7(${past(ago)} - now()::timestamp)`;
    for (const ago of [30, 31, 32]) {
      const open = ago === 32;
      await change(sql.fragment`INSERT INTO event (id, workspace_id, key, body, fanned_out_at)
        VALUES (${id(ago)}, 1, 'sent', '{}', ${open ? null : new Date().toISOString()})`);
      await change(sql.fragment`INSERT INTO webhook_delivery (id, workspace_id, webhook_id, event_id, event_key, state)
        VALUES (${id(ago)}, 1, uuidv7(), uuidv7(), 'sent', ${open ? 'pending' : 'failed'})`);
      await change(sql.fragment`INSERT INTO provider_callback (body, received_at) VALUES ('', ${past(ago)})`);
    }
    await change(sql.fragment`INSERT INTO waiting_callback (id, size, received_at)
      SELECT id, 0, received_at FROM provider_callback ORDER BY received_at LIMIT 1`);
    for (const table of partitionedTables) {
      expect(await dropPartitions(database.pool, table, 30)).toBe(1);
      expect(await daysOf(table)).toEqual([
        dayName(-32),
        dayName(-30),
        ...[0, ...week].map(dayName),
        'default',
      ]);
    }
  });

  it('are dropped once running readers have ended, and delay others for a moment at most', async () => {
    await addDay('event', 40);
    const reader = new pg.Client({ connectionString: database.url });
    await reader.connect();
    await reader.query('BEGIN');
    await reader.query('SELECT FROM event');
    const dropping = dropPartitions(database.pool, 'event', 30);
    for (let round = 0; round < 10; round += 1) {
      // Without a limit of the lock that the drop asks for, they would wait for the reader, and the test for ever.
      await database.pool.query(
        sql.type(nothing)`INSERT INTO event (workspace_id, key, body) VALUES (1, 'sent', '{}')`,
      );
    }
    expect(await daysOf('event')).toContain(dayName(-40));
    await reader.end();
    expect(await dropping).toBe(1);
  });

  it('have one delivery for each event and configuration, however many fan-outs run', async () => {
    const workspaceId = await makeWorkspace(database);
    await makeConfiguration(database.pool, workspaceId);
    for (let round = 0; round < 10; round += 1) {
      await change(sql.fragment`INSERT INTO event (workspace_id, key, body)
        SELECT ${workspaceId}, key, '{}' FROM webhook_configuration CROSS JOIN unnest(events[1:1]) AS key
        CROSS JOIN generate_series(1, 40) WHERE workspace_id = ${workspaceId}`);
      await Promise.all(Array.from({ length: 20 }, () => fanOutEvents(database.pool, 7)));
    }
    expect(
      await texts(sql.fragment`SELECT count(*) || ' of ' || count(DISTINCT event_id) FROM webhook_delivery`),
    ).toEqual(['400 of 400']);
  });
});
