import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startCampaignAgain } from '../../../src/commands/campaigns/change-campaign.ts';
import { editCampaign } from '../../../src/commands/campaigns/edit-campaign.ts';
import { runSendStep } from '../../../src/commands/sending/run-send-step.ts';
import { getCampaignReport } from '../../../src/records/campaigns/report.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { checkBooks, messagePrice, seedCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { createFakeProvider } from '../../support/fake-provider.ts';
import { sendingDependencies } from '../../support/sending-dependencies.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

it('pauses before it would cost more than max_cost, and starts only with a higher one', async () => {
  const seeded = await seedCampaign(test.pool, { recipients: 50 });
  const { campaignId, workspaceId } = seeded;
  await test.pool.query(sql.type(nothing)`
    UPDATE campaign SET max_cost = ${messagePrice * 20n + 1n} WHERE id = ${campaignId}`);
  const provider = createFakeProvider();
  const dependencies = sendingDependencies({ database: test.pool, provider });
  const step = () => runSendStep(dependencies, campaignId, { budgetMs: 60_000, draining: () => false });
  const record = () => getCampaignReport(test.pool, workspaceId, campaignId);
  const setMaxCost = (maxCost: bigint | null) =>
    editCampaign(dependencies, { workspaceId, scope: 'workspace' }, campaignId, { maxCost });

  await step();
  expect(provider.received).toHaveLength(20);
  expect(await record()).toMatchObject({
    status: 'PAUSED',
    pause_reason: 'MAX_COST',
    pending: 30,
    claimed: 0,
  });
  expect((await checkBooks(test.pool, seeded)).reserved).toBe(0n);

  await expect(startCampaignAgain(dependencies, { campaignId, isForced: true })).rejects.toThrow('max_cost');
  await setMaxCost(messagePrice * 20n);
  await expect(startCampaignAgain(dependencies, { campaignId })).rejects.toThrow('PATCH a higher max_cost');
  await setMaxCost(messagePrice * 25n);
  await startCampaignAgain(dependencies, { campaignId });
  await step();
  expect(provider.received).toHaveLength(25);
  expect(await record()).toMatchObject({ pause_reason: 'MAX_COST' });

  await setMaxCost(null);
  await startCampaignAgain(dependencies, { campaignId });
  expect(await step()).toMatchObject({ drained: true });
  expect(provider.received).toHaveLength(50);
});
