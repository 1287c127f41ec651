/** Answers about a campaign whose recipients are archived. */
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { archiveExpired } from '../../../src/commands/operations/archive-expired.ts';
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
  await archiveExpired({ ...api.dependencies, config }, { batchSize: 2, onBatch: () => undefined });
});
afterAll(() => api.close());

const get = (path: string, headers = {}) =>
  api.send('GET', `/api/campaigns/${campaignId}${path}`, { key: workspace.channelKey, headers });

it('returns the totals and the time of the archiving', async () => {
  const { body } = await get('');
  expect(body.data.counters.failed).toBe(3);
  expect(Date.parse(body.data.archived_at)).toBeGreaterThan(Date.now() - 60_000);
});

it('lists no recipients, and says where they are', async () => {
  const message = 'The recipients are archived: ask for all of them as text/csv, without a filter';
  for (const answer of [
    await get('/recipients'),
    await get('/recipients?state=FAILED', { Accept: 'text/csv' }),
  ]) {
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({ message, error_code: 'conflict' });
  }
});

it('exports all of them', async () => {
  const { status, text, headers } = await get('/recipients', { Accept: 'text/csv' });
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
  const [header, ...lines] = text.trimEnd().split('\n');
  expect(header).toMatch(/^id,phone_number,contact_id,state,.*,updated_at,position,country,variables,/);
  expect(lines.map((line) => line.split(',')[1])).toEqual(['491510000001', '491510000002', '491510000003']);
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
  expect(body.message).toContain('whose recipients are archived');
});
