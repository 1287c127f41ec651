/** Rows read by the watch and the gauges with twenty thousand campaigns: at most proportional to their number. */
import pg from 'pg';
import * as t from 'io-ts';
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Connection } from '../../../src/records/database/database.ts';
import { nothing, row } from '../../../src/records/database/row.ts';
import { createGaugeReader } from '../../../src/records/operations/gauges.ts';
import { suspectCampaigns } from '../../../src/records/operations/standstill.ts';
import { seedCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

const many = 20_000;
let database: TestDatabase;
let owner: pg.Client;

/** Writes the campaigns with foreign keys switched off. */
beforeAll(async () => {
  database = await createTestDatabase();
  const { campaignId } = await seedCampaign(database.pool, { recipients: 1 });
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  await owner.query('SET session_replication_role = replica; SET synchronous_commit = off');
  await owner.query(
    `INSERT INTO campaign (workspace_id, channel_id, template_id, name, contact_selection_type, audience, send_type,
       scheduled_at, status, preparation_status, created_by, updated_at)
     SELECT workspace_id, channel_id, template_id, name, contact_selection_type, audience, 'SCHEDULED',
       now() + interval '1 day', 'COMPLETED', 'READY', created_by, now() - interval '1 hour'
     FROM campaign CROSS JOIN generate_series(1, ${many}) WHERE id = $1`,
    [campaignId],
  );
  await owner.query('DELETE FROM campaign WHERE id = $1', [campaignId]);
  await owner.query(`INSERT INTO campaign_counter (campaign_id, pending) SELECT id, 1 FROM campaign`);
  await owner.query(`INSERT INTO recipient (campaign_id, position, sendable, state, updated_at)
    SELECT id, 1, true, 'PENDING', now() - interval '1 hour' FROM campaign`);
});
afterAll(async () => {
  await owner.end();
  await database.drop();
});

const setUp = async (assignments: string): Promise<void> => {
  await owner.query(`UPDATE campaign SET ${assignments}`);
  await owner.query('UPDATE campaign_watch SET looked_at = now()');
  await owner.query('VACUUM ANALYZE campaign, campaign_counter, campaign_standstill, recipient');
};

const Count = row(t.type({ count: t.number }));
const rowsRead = sql.type(Count)`
  SELECT sum(seq_tup_read + COALESCE(idx_tup_fetch, 0))::float8 AS count FROM pg_stat_xact_user_tables`;
const blocksRead = sql.type(Count)`
  SELECT sum(heap_blks_hit + heap_blks_read + COALESCE(idx_blks_hit + idx_blks_read, 0))::float8 AS count
  FROM pg_statio_user_tables`;

/** Counts blocks instead of rows, because the row counts leave out rows that the statement itself has written. */
async function blocksOf(ask: (connection: Connection) => Promise<unknown>): Promise<number> {
  const before = await database.pool.oneFirst(blocksRead);
  await database.pool.transaction(async (transaction) => {
    await ask(transaction);
    await transaction.query(sql.type(nothing)`SELECT pg_stat_force_next_flush()`);
  });
  return (await database.pool.oneFirst(blocksRead)) - before;
}

it.each(['COMPLETED', 'SCHEDULED'])('reads no campaign that is %s', async (status) => {
  await setUp(`status = '${status}'`);
  const rows = await database.pool.transaction(async (transaction) => {
    await suspectCampaigns(transaction);
    return transaction.oneFirst(rowsRead);
  });
  expect(rows).toBeLessThan(100);
});

it.each([
  ['due', `status = 'SCHEDULED', scheduled_at = now() - interval '1 hour'`],
  ['running', `status = 'RUNNING'`],
])(
  'records that all of them are %s, and counts them, reading a limited number of blocks per campaign',
  async (kind, assignments) => {
    await owner.query('TRUNCATE campaign_standstill');
    await setUp(assignments);
    expect(await blocksOf(suspectCampaigns)).toBeLessThan(50 * many);
    await owner.query(`UPDATE campaign_standstill SET since = now() - interval '1 hour'`);
    expect(await blocksOf(suspectCampaigns)).toBeLessThan(50 * many);
    const readGauges = createGaugeReader();
    const gauges = async (connection: Connection) =>
      expect((await readGauges(connection)).standstills).toEqual([{ kind, count: many }]);
    expect(await blocksOf(gauges)).toBeLessThan(10 * many);
  },
);
