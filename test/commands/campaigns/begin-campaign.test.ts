import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { beginCampaign } from '../../../src/commands/campaigns/begin-campaign.ts';
import { getCampaignSnapshot } from '../../../src/records/campaigns/campaign-snapshot.ts';
import { ProviderRequestError } from '../../../src/provider/provider.ts';
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

it('asks the provider again when it said long ago that the number may send nothing', async () => {
  const begun = async (ago: string, answer: 'BLOCKED' | 'AVAILABLE' | 'none') => {
    const { campaignId, channelId } = await seedCampaign(test.pool, { recipients: 1, status: 'DRAFT' });
    await test.pool.query(sql.type(nothing)`
      UPDATE channel SET can_send = 'BLOCKED', health_read_at = now() - ${ago}::interval WHERE id = ${channelId}`);
    let asked = 0;
    const provider = {
      ...createFakeProvider(),
      readNumberHealth: () => {
        asked += 1;
        return answer === 'none'
          ? Promise.reject(new ProviderRequestError({ kind: 'unreachable', cause: 'down' }))
          : Promise.resolve({ canSend: answer, details: null, quality: null, messagingLimit: undefined });
      },
    };
    await beginCampaign(sendingDependencies({ database: test.pool, provider }), campaignId);
    return [(await getCampaignSnapshot(test.pool, campaignId)).status, asked];
  };
  expect(await begun('10 seconds', 'AVAILABLE')).toEqual(['PAUSED', 0]);
  expect(await begun('50 minutes', 'AVAILABLE')).toEqual(['RUNNING', 1]);
  expect(await begun('3 days', 'BLOCKED')).toEqual(['PAUSED', 1]);
  // Nothing recent is known: a refusal of the first message would pause it.
  expect(await begun('50 minutes', 'none')).toEqual(['RUNNING', 1]);
});

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
