/** The scheduler's frequent statements read only waiting rows, not a month of delivered ones, whatever the statistics say. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Connection } from '../../../src/records/database/database.ts';
import { findWaitingEvent } from '../../../src/records/webhooks/events.ts';
import { nothing, row } from '../../../src/records/database/row.ts';
import { findWaitingDelivery } from '../../../src/records/webhooks/delivery-scheduler.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { makeConfiguration, makeWorkspace } from '../../support/webhook-fixtures.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  const workspaceId = await makeWorkspace(database);
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
