/** Frequent statements use an index and never scan a table that grows with history. */
import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import * as t from 'io-ts';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { seedHistory } from '../../bench/support/history.ts';
import {
  claimKnownStatuses,
  findTargetsById,
  findTargetsByProviderId,
} from '../../src/records/callbacks/message-statuses.ts';
import { claimProviderCallbacks } from '../../src/records/callbacks/provider-callbacks.ts';
import { listRecipients } from '../../src/records/campaigns/recipient-report.ts';
import { getCampaignReport } from '../../src/records/campaigns/report.ts';
import { listContacts } from '../../src/records/contacts/list.ts';
import type { Connection, Database } from '../../src/records/database/database.ts';
import { nothing, row } from '../../src/records/database/row.ts';
import { removals } from '../../src/records/operations/retention.ts';
import { createGaugeReader } from '../../src/records/operations/gauges.ts';
import { findWaitingDelivery, sweepTimeouts } from '../../src/records/webhooks/delivery-scheduler.ts';
import { fanOutEvents, findWaitingEvent } from '../../src/records/webhooks/events.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { historyRows, historyTimeoutMs } from '../support/history-rows.ts';

let database: TestDatabase;
const Text = row(t.type({ text: t.string }));
const firstCampaign = (connection: Connection) =>
  connection.oneFirst(
    sql.type(Text)`SELECT id::text AS text FROM campaign WHERE workspace_id = 1001 ORDER BY id LIMIT 1`,
  );

beforeAll(async () => {
  database = await createTestDatabase();
  await seedHistory(database.ownerUrl, historyRows);
  const client = new pg.Client({ connectionString: database.ownerUrl });
  await client.connect();
  await client.query(`INSERT INTO unmatched_status (channel_id, provider_message_id, status, body)
    SELECT (SELECT id FROM channel LIMIT 1), 'foreign.' || n, 'sent', '{}' FROM generate_series(1, 100) AS n; ANALYZE unmatched_status`);
  await client.end();
}, historyTimeoutMs);
afterAll(() => database.drop());

const growing = [
  'contact',
  'event',
  'ledger_entry',
  'provider_callback',
  'provider_message',
  'recipient',
  'webhook_delivery',
];
const Scans = row(t.type({ name: t.string, scans: t.number }));

/** Sequential scans by this session since its statistics were flushed, per table; partitions are summed up. */
async function scansOf(connection: Connection): Promise<ReadonlyMap<string, number>> {
  const scans = await connection.any(sql.type(Scans)`
    SELECT regexp_replace(pg_class.relname, '_([0-9]{8}|default)$', '') AS name, sum(seq_scan)::int4 AS scans
    FROM pg_stat_xact_user_tables JOIN pg_class ON pg_class.oid = relid
    WHERE relpages >= 8 GROUP BY 1`);
  return new Map(scans.map(({ name, scans: count }) => [name, count]));
}

const callbacks = { limit: 400, maxBytes: 1024 * 1024, except: [] };
const ids = (count: number) => Array.from({ length: count }, () => randomUUID());
const batch = { olderThanDays: 40, limit: 100 };

const asked: Readonly<Record<string, (connection: Connection) => Promise<unknown>>> = {
  'claiming callbacks': (connection) => claimProviderCallbacks(connection, callbacks),
  'finding messages by our ids': (connection) => findTargetsById(connection, ids(400)),
  'finding messages by ids of the provider': (connection) => findTargetsByProviderId(connection, ids(400)),
  'settling unmatched statuses': (connection) =>
    claimKnownStatuses(connection, { withinSeconds: undefined, limit: 500 }),
  'looking for a waiting event': (connection) => findWaitingEvent(connection),
  'fanning events out': (connection) => fanOutEvents(connection, 500),
  'looking for a waiting delivery': (connection) => findWaitingDelivery(connection),
  'sweeping deliveries': (connection) =>
    sweepTimeouts(connection as Database, { expiryHours: 24, redispatchSeconds: 30 }),
  'listing contacts': (connection) => listContacts(connection, 1001, { limit: 100 }),
  'listing recipients of a rare state': async (connection) =>
    listRecipients(connection, {
      campaignId: await firstCampaign(connection),
      states: ['SENT', 'DELIVERED'],
      reasons: [],
      afterPosition: 0,
      limit: 20,
    }),
  'reading the record of a campaign': async (connection) =>
    getCampaignReport(connection, 1001, await firstCampaign(connection)),
  'reading the gauges': createGaugeReader(),
  ...Object.fromEntries(
    Object.entries(removals).map(([name, remove]) => [
      `removing old ${name}`,
      (connection: Connection) => remove(connection, batch),
    ]),
  ),
};

// Postgres may keep a generic plan for a frequent statement (src/records/database/statement-names.ts).
const modes = ['force_custom_plan', 'force_generic_plan'];
const cases = Object.entries(asked)
  .flatMap(([what, ask]) => modes.map((mode) => ({ what, mode, ask })))
  // Without LIMIT, Postgres estimates that this statement returns a tenth of the table, and replans it each time.
  .filter(({ what, mode }) => !(what === 'removing old providerMessages' && mode === 'force_generic_plan'));

it.each(cases)('$what reads no growing table from end to end: $mode', async ({ mode, ask }) => {
  const scanned = await database.pool.transaction(async (transaction) => {
    await transaction.query(sql.type(nothing)`SELECT set_config('plan_cache_mode', ${mode}, true)`);
    const before = await scansOf(transaction);
    await ask(transaction);
    const after = await scansOf(transaction);
    return growing.filter((name) => (after.get(name) ?? 0) > (before.get(name) ?? 0));
  });
  expect(scanned).toEqual([]);
});
