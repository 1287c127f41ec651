import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listCampaignReports } from '../../../src/records/campaigns/report.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { seedCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

it('lists the campaigns of a workspace in pages, newest first, and those of one status', async () => {
  const { pool } = test;
  await seedCampaign(pool, { recipients: 0 });
  const { workspaceId, campaignId } = await seedCampaign(pool, { recipients: 1 });
  for (const [name, status] of Object.entries({ second: 'DRAFT', third: 'RUNNING', fourth: 'DRAFT' })) {
    await pool.query(sql.type(nothing)`
      WITH made AS (
        INSERT INTO campaign (workspace_id, channel_id, template_id, name, contact_selection_type, audience, send_type,
          status, preparation_status, created_by)
        SELECT workspace_id, channel_id, template_id, ${name}, contact_selection_type, audience, send_type, ${status},
          'READY', created_by
        FROM campaign WHERE id = ${campaignId} RETURNING id)
      INSERT INTO campaign_counter (campaign_id) SELECT id FROM made`);
  }
  const namesOf = async (place: Omit<Parameters<typeof listCampaignReports>[2], 'limit'>) => {
    const { items, total } = await listCampaignReports(pool, workspaceId, { limit: 3, ...place });
    return { names: items.map(({ name }) => name), total };
  };
  expect(await namesOf({ page: 1 })).toEqual({ names: ['fourth', 'third', 'second'], total: 4 });
  const [first] = (await namesOf({ page: 2 })).names;
  expect(['second', 'third', 'fourth']).not.toContain(first);
  expect(await namesOf({ page: 3 })).toEqual({ names: [], total: 4 });
  expect(await namesOf({ page: 1, statuses: ['DRAFT'] })).toEqual({ names: ['fourth', 'second'], total: 2 });
  expect(await namesOf({ page: 1, statuses: ['CANCELLED'] })).toEqual({ names: [], total: 0 });
});
