/** The statements that are run most, on a database with a history: by which indexes they read the tables that grow. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { deliveredResult } from '../../bench/support/delivered-result.ts';
import { seedHistory } from '../../bench/support/history.ts';
import { defaultRelayOptions } from '../../src/commands/webhooks/relay-webhooks.ts';
import {
  findTargetsById,
  findTargetsByProviderId,
  lockRecipients,
} from '../../src/records/callbacks/message-statuses.ts';
import {
  claimProviderCallbacks,
  insertProviderCallbacks,
} from '../../src/records/callbacks/provider-callbacks.ts';
import type { Connection, Database } from '../../src/records/database/database.ts';
import { row } from '../../src/records/database/row.ts';
import { claimPage } from '../../src/records/sending/claims.ts';
import { recordPage } from '../../src/records/sending/page-results.ts';
import { dispatchDeliveries } from '../../src/records/webhooks/dispatch.ts';
import { findWaitingDelivery } from '../../src/records/webhooks/waiting.ts';
import { claimAttempts, recordAttempts } from '../../src/records/webhooks/attempts.ts';
import { fanOutEvents, findWaitingEvent, recentId } from '../../src/records/webhooks/events.ts';
import { anyTokens, messagePrice, seedCampaign, type SeededCampaign } from '../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { historyRows, historyTimeoutMs } from '../support/history-rows.ts';

let database: TestDatabase;
let client: pg.Client;
let seeded: SeededCampaign;
let ids: readonly string[];
let delivery: string;
const claimId = randomUUID();

beforeAll(async () => {
  database = await createTestDatabase();
  await seedHistory(database.ownerUrl, historyRows);
  seeded = await seedCampaign(database.pool, { recipients: 1_000 });
  await insertProviderCallbacks(database.pool, [Buffer.from('{}')]);
  delivery = await database.pool.oneFirst(sql.type(row(t.type({ id: t.string })))`
    WITH told AS (INSERT INTO event (workspace_id, key, body, fanned_out_at) VALUES (1001, 'sent', '{}', now()) RETURNING id)
    INSERT INTO webhook_delivery (workspace_id, webhook_id, event_id, event_key)
    SELECT workspace_id, webhook_configuration.id, told.id, 'sent' FROM told, webhook_configuration WHERE workspace_id = 1001
    RETURNING id`);
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  // Many of today, which has but few early in the morning: to read all of those would be right.
  const ofToday = Math.ceil(historyRows / 6);
  await owner.query(
    `WITH made AS (
       INSERT INTO event (workspace_id, key, body, fanned_out_at)
       SELECT 1001 + n % 50, 'sent', repeat('x', 300), now() FROM generate_series(1, $1::int) AS n RETURNING id, workspace_id)
     INSERT INTO webhook_delivery (workspace_id, webhook_id, event_id, event_key, state, dispatched_at)
     SELECT workspace_id, webhook.id, made.id, 'sent', 'delivered', now()
     FROM made JOIN webhook_configuration AS webhook USING (workspace_id)`,
    [ofToday],
  );
  await owner.query(
    `INSERT INTO provider_callback (body, applied_at)
     SELECT convert_to(repeat('x', 400), 'UTF8'), now() FROM generate_series(1, $1::int)`,
    [ofToday],
  );
  // As autovacuum, and of the days together retention, leave it sooner or later: plans change with it.
  await owner.query('VACUUM ANALYZE');
  await owner.end();
  ids = await database.pool.anyFirst(sql.type(row(t.type({ id: t.string })))`
    SELECT id FROM recipient WHERE state = 'DELIVERED' LIMIT 400`);
}, historyTimeoutMs);
afterAll(async () => {
  await client.end();
  await database.drop();
});

const waiting = { ...defaultRelayOptions.dispatch, limit: 100, slowLimit: 10 };
const hot: Readonly<Record<string, (connection: Connection, recent: string) => Promise<unknown>>> = {
  'claim a page': (connection) => {
    const prices = new Map([['', messagePrice]]);
    return claimPage(connection, { ...anyTokens, claimId, ...seeded, epoch: 0, limit: 50, prices });
  },
  'record a page': (connection) => {
    const outcomes = new Map([[1, { kind: 'accepted' as const, providerMessageId: 'wamid.1' }]]);
    return recordPage(connection, { ...seeded, claimId, outcomes, final: false });
  },
  'claim callbacks': (connection) =>
    claimProviderCallbacks(connection, { limit: 400, maxBytes: 1024 * 1024, except: [] }),
  'find messages by our ids': (connection) => findTargetsById(connection, ids),
  'find messages by ids of the provider': (connection) =>
    findTargetsByProviderId(connection, ids.slice(0, 40)),
  'lock recipients of statuses': (connection) => lockRecipients(connection, ids),
  'find a waiting event': findWaitingEvent,
  'fan events out': (connection, recent) => fanOutEvents(connection, 500, recent),
  'find a waiting delivery': findWaitingDelivery,
  'hand deliveries out': (connection, recent) => dispatchDeliveries(connection as Database, waiting, recent),
  'claim deliveries': (connection) =>
    claimAttempts(connection, [delivery], { leaseSeconds: 15, expiryHours: 24 }),
  'record deliveries': (connection) => recordAttempts(connection, [deliveredResult(delivery)]),
};

interface Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** What `ask` has Postgres run. */
async function statementsOf(
  ask: (connection: Connection, recent: string) => Promise<unknown>,
  recent: string,
): Promise<readonly Statement[]> {
  const statements: Statement[] = [];
  const recorded = (connection: object): Connection =>
    new Proxy(connection, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (argument: unknown) => {
          if (name === 'transaction')
            return Reflect.apply(member, target, [
              (inner: object) => (argument as (one: object) => unknown)(recorded(inner)),
            ]);
          statements.push(argument as Statement);
          return Reflect.apply(member, target, [argument]);
        };
      },
    }) as Connection;
  await ask(recorded(database.pool), recent);
  return statements;
}

const growing =
  /(?:Scan|Scan Backward) (?:using (\S+) )?on (contact|event|ledger_entry|provider_callback|provider_message|recipient|webhook_delivery)(_\d{8}|_default)?\b/;

/** What an index of a day is called in the table that the day belongs to. */
async function namesOfIndexes(): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ readonly day: string; readonly whole: string }>(
    `SELECT day.relname AS day, whole.relname AS whole FROM pg_inherits
     JOIN pg_class AS day ON day.oid = inhrelid JOIN pg_class AS whole ON whole.oid = inhparent WHERE day.relkind = 'i'`,
  );
  return new Map(rows.map(({ day, whole }) => [day, whole]));
}

/** Today, or yesterday a moment ago, and what is empty: the default, and the next day in its last hour. */
const fewDays = 6;

/** `table by index`, or `table from end to end`; a scan by bitmap is told like the other ones. Days that are empty are left out. */
async function readsOf(
  { sql: text, values }: Statement,
  indexes: ReadonlyMap<string, string>,
): Promise<readonly string[]> {
  const explained = `EXPLAIN (COSTS OFF) ${text.replaceAll('$slonik_', '$')}`;
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(explained, [...values]);
  const lines = rows.map((one) => one['QUERY PLAN']);
  const { rows: full } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE reltuples > 0`,
  );
  const filled = new Set(full.map(({ name }) => name));
  const days = new Set(
    lines.flatMap((line) => (growing.exec(line)?.[3] === undefined ? [] : [growing.exec(line)?.[3]])),
  );
  expect(days.size, text).toBeLessThanOrEqual(fewDays);
  return lines.flatMap((line, at) => {
    const [, index, table, day] = growing.exec(line) ?? [];
    if (table === undefined || (day !== undefined && !filled.has(table + day))) return [];
    if (line.includes('Seq Scan')) return [`${table} from end to end`];
    const bitmap = lines.slice(at).find((next) => next.includes('Bitmap Index Scan on'));
    const by = index ?? bitmap?.split(' on ')[1] ?? '';
    return [`${table} by ${indexes.get(by) ?? by}`];
  });
}

it('read what grows by the indexes that the file names', async () => {
  const indexes = await namesOfIndexes();
  const recent = await recentId(database.pool);
  const plans: string[] = [];
  for (const [what, ask] of Object.entries(hot)) {
    const statements = await statementsOf(ask, recent);
    const reads = (await Promise.all(statements.map((statement) => readsOf(statement, indexes)))).flat();
    plans.push(`${what}: ${[...new Set(reads)].toSorted().join(', ') || 'nothing that grows'}`);
  }
  expect(plans.join('\n')).not.toContain('from end to end');
  await expect(`${plans.join('\n')}\n`).toMatchFileSnapshot('hot-plans.txt');
});
