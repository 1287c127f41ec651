/** Requests about a campaign whose recipients were deleted after the retention period. */
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { deleteMessages } from '../../../src/commands/operations/delete-expired.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../../support/api.ts';
import { aCampaignToPrepare, aTemplate } from '../../support/audience-campaign.ts';

let api: TestApi;
let workspace: SeededWorkspace;
let templateId: string;
let campaignId: string;

beforeAll(async () => {
  api = await startTestApi();
  workspace = await api.seedWorkspace();
  const { pool } = api.database;
  templateId = await aTemplate(pool, workspace);
  campaignId = await aCampaignToPrepare(pool, { ...workspace, templateId }, {});
  await pool.query(sql.type(nothing)`
    INSERT INTO recipient (campaign_id, position, phone_number, sendable, state, reason)
    SELECT ${campaignId}, n, (491510000000 + n)::text, true, 'FAILED', 'PROVIDER_131026' FROM generate_series(1, 3) AS n`);
  await pool.query(sql.type(nothing)`
    UPDATE campaign SET status = 'COMPLETED', preparation_status = 'READY', created_at = now() - interval '8 months',
      completed_at = now() - interval '7 months' WHERE id = ${campaignId}`);
  await pool.query(sql.type(nothing)`
    UPDATE campaign_counter SET failed = 3, claimed_position = 3 WHERE campaign_id = ${campaignId}`);
  const config = { ...api.dependencies.config, messageRetentionMonths: 6 };
  await deleteMessages({ ...api.dependencies, config }, { batchSize: 2, onBatch: () => undefined });
});
afterAll(() => api.close());

const get = (path: string, headers = {}) =>
  api.send('GET', `/api/campaigns/${campaignId}${path}`, { key: workspace.channelKey, headers });

it('returns the totals and the time of the deletion', async () => {
  const { body } = await get('');
  expect(body.data.counters.failed).toBe(3);
  expect(Date.parse(body.data.archived_at)).toBeGreaterThan(Date.now() - 60_000);
});

it('refuses to list or export the recipients', async () => {
  const message = 'The recipients of this campaign were deleted after the retention period';
  for (const answer of [await get('/recipients'), await get('/recipients', { Accept: 'text/csv' })]) {
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({ message, error_code: 'conflict' });
  }
});

it('refuses to resend to its failed recipients', async () => {
  const { status, body } = await api.send('POST', '/api/campaigns/auto-trigger', {
    key: workspace.channelKey,
    body: {
      name: 'Again',
      template_id: templateId,
      contact_selection_type: 'failed_contacts',
      failed_campaign_id: campaignId,
      send_type: 'IMMEDIATE',
    },
  });
  expect(status).toBe(400);
  expect(body.message).toContain('whose recipients were deleted');
});
