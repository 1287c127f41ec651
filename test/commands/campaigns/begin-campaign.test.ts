import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { beginCampaign } from '../../../src/commands/campaigns/begin-campaign.ts';
import { getCampaignSnapshot } from '../../../src/records/campaigns/campaign-snapshot.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { seedCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { createFakeProvider } from '../../support/fake-provider.ts';
import { sendingDependencies } from '../../support/sending-dependencies.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

it("begins no campaign before it is due by Postgres' clock, whatever the worker's clock says", async () => {
  const { campaignId } = await seedCampaign(test.pool, { recipients: 1, status: 'DRAFT' });
  await test.pool.query(sql.type(nothing)`
    UPDATE campaign SET status = 'SCHEDULED', send_type = 'SCHEDULED', scheduled_at = now() + interval '1 day'
    WHERE id = ${campaignId}`);
  const dependencies = sendingDependencies({ database: test.pool, provider: createFakeProvider() });
  expect(await beginCampaign(dependencies, campaignId)).toBeGreaterThan(86_000_000);
  expect(await getCampaignSnapshot(test.pool, campaignId)).toMatchObject({ status: 'SCHEDULED' });
  await test.pool.query(sql.type(nothing)`UPDATE campaign SET scheduled_at = now() WHERE id = ${campaignId}`);
  expect(await beginCampaign(dependencies, campaignId)).toBe(0);
  expect(await getCampaignSnapshot(test.pool, campaignId)).toMatchObject({ status: 'RUNNING' });
});
