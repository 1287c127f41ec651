/** The scheduler's frequent statements read only waiting rows, not a month of delivered ones, whatever the statistics say. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Connection } from '../../../src/records/database/database.ts';
import { findFeed, readFeed, saveFeed } from '../../../src/records/webhooks/event-feed.ts';
import { findWaitingEvent } from '../../../src/records/webhooks/events.ts';
import { nothing, row } from '../../../src/records/database/row.ts';
import { findWaitingDelivery } from '../../../src/records/webhooks/delivery-scheduler.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { makeConfiguration, makeWorkspace } from '../../support/webhook-fixtures.ts';

let database: TestDatabase;
let workspaceId: number;

beforeAll(async () => {
  database = await createTestDatabase();
  workspaceId = await makeWorkspace(database);
  const { id: webhookId } = await makeConfiguration(database.pool, workspaceId);
  const run = (statement: ReturnType<typeof sql.fragment>) =>
    database.owner.query(sql.type(nothing)`${statement}`);
  await run(sql.fragment`
    INSERT INTO webhook_delivery (workspace_id, webhook_id, event_id, event_key, state, dispatched_at)
    SELECT ${workspaceId}, ${webhookId}, uuidv7(), 'sent', 'delivered', now() FROM generate_series(1, 20000)`);
  await run(sql.fragment`
    INSERT INTO webhook_delivery (workspace_id, webhook_id, event_id, event_key)
    SELECT ${workspaceId}, ${webhookId}, uuidv7(), 'sent' FROM generate_series(1, 4000)`);
  await run(sql.fragment`
    INSERT INTO event (workspace_id, key, body, fanned_out_at)
    SELECT ${workspaceId}, 'sent', repeat('x', 300), CASE WHEN n > 4000 THEN now() END FROM generate_series(1, 20000) AS n`);
  await saveFeed(database.pool, workspaceId, true);
  await run(sql.fragment`
    WITH placed AS (SELECT id, row_number() OVER (ORDER BY id) AS position FROM event WHERE fanned_out_at IS NOT NULL), batch AS (
      INSERT INTO event_feed_batch (workspace_id, last_position, event_ids)
      SELECT ${workspaceId}, max(position), array_agg(id ORDER BY id) FROM placed GROUP BY (position - 1) / 100
      RETURNING last_position)
    UPDATE event_feed SET last_position = (SELECT max(last_position) FROM batch)`);
  // Statistics from the middle of a burst stay: autovacuum analyzes again only after a tenth of the table has changed.
  await run(sql.fragment`ANALYZE webhook_delivery`);
  await run(sql.fragment`ANALYZE event`);
});
afterAll(() => database.drop());

const Scans = row(t.type({ scans: t.number }));

/** Number of full scans of the tables during `work`. */
async function wholeReads(work: (transaction: Connection) => Promise<unknown>): Promise<number> {
  return database.pool.transaction(async (transaction) => {
    await work(transaction);
    return transaction.oneFirst(sql.type(Scans)`
      SELECT sum(seq_scan)::int AS scans FROM pg_stat_xact_user_tables WHERE relname IN ('webhook_delivery', 'event')`);
  });
}

it('finds out whether a delivery waits', async () => {
  expect(await wholeReads(findWaitingEvent)).toBe(0);
  expect(await wholeReads(findWaitingDelivery)).toBe(0);
});

const Read = row(t.type({ rows: t.number }));

it('reads of the event feed the rows of a page alone', async () => {
  await database.pool.transaction(async (transaction) => {
    const latest = (await findFeed(transaction, workspaceId))?.latest.position ?? 0;
    expect(latest).toBe(16_000);
    const page = await readFeed(transaction, workspaceId, {
      after: { position: 8_000, eventId: null },
      latest,
      keys: [],
      limit: 1_000,
    });
    expect(page).toMatchObject({ events: { length: 1_000 }, next: { position: 9_000 } });
    const read = await transaction.oneFirst(sql.type(Read)`
      SELECT sum(seq_tup_read + idx_tup_fetch)::int AS rows FROM pg_stat_xact_user_tables
      WHERE relname ~ '^event(_[0-9]+|_default|_feed|_feed_batch)?$'`);
    expect(read).toBeLessThan(2 * 1_000 + 100);
  });
});
