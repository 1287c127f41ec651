import * as t from 'io-ts';
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { beginCampaign } from '../../../src/commands/campaigns/begin-campaign.ts';
import { startCampaignAgain } from '../../../src/commands/campaigns/change-campaign.ts';
import { editCampaign } from '../../../src/commands/campaigns/edit-campaign.ts';
import { runSendStep } from '../../../src/commands/sending/run-send-step.ts';
import { getCampaignReport } from '../../../src/records/campaigns/report.ts';
import { nothing, row } from '../../../src/records/database/row.ts';
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

it('pauses with both prices when the template moves to a category that costs more', async () => {
  const seeded = await seedCampaign(test.pool, { recipients: 20, status: 'DRAFT' });
  const { campaignId, workspaceId, templateId } = seeded;
  const run = (statement: ReturnType<typeof sql.fragment>) =>
    test.pool.query(sql.type(nothing)`${statement}`);
  await run(sql.fragment`INSERT INTO rate_card (workspace_id, category, country, price)
    VALUES (${workspaceId}, 'MARKETING', '', 1500), (${workspaceId}, 'MARKETING', 'DE', 4000),
      (${workspaceId}, 'AUTHENTICATION', '', 900), (${workspaceId}, 'AUTHENTICATION', 'DE', 900)`);
  const moveTo = (category: string) =>
    run(sql.fragment`UPDATE template SET category = ${category} WHERE id = ${templateId}`);
  const provider = createFakeProvider();
  const dependencies = sendingDependencies({ database: test.pool, provider });
  const step = () => runSendStep(dependencies, campaignId, { budgetMs: 60_000, draining: () => false });
  const record = () => getCampaignReport(test.pool, workspaceId, campaignId);
  await beginCampaign(dependencies, campaignId);

  await moveTo('MARKETING');
  expect(await step()).toEqual({ drained: false, waitMs: 0 });
  const change = {
    category_before: 'UTILITY',
    category: 'MARKETING',
    country: 'DE',
    price_before: '0.001',
    price: '0.004',
  };
  expect(await record()).toMatchObject({
    status: 'PAUSED',
    pause_reason: 'PRICE_RAISED',
    price_change: change,
  });
  expect(provider.received).toHaveLength(0);
  const Message = row(t.type({ message: t.string }));
  expect(
    await test.pool.oneFirst(
      sql.type(Message)`SELECT message FROM notice WHERE workspace_id = ${workspaceId}`,
    ),
  ).toMatch(/from UTILITY to MARKETING: a message to DE cost 0\.001 and costs 0\.004 now/);

  await startCampaignAgain(dependencies, { campaignId });
  expect(await record()).toMatchObject({ status: 'RUNNING', price_change: null });
  expect(await step()).toMatchObject({ drained: true });
  expect(provider.received).toHaveLength(20);

  const cheaper = await seedCampaign(test.pool, { recipients: 5 });
  await run(sql.fragment`UPDATE campaign SET workspace_id = ${workspaceId}, channel_id = ${seeded.channelId},
    template_id = ${templateId}, priced_category = 'MARKETING' WHERE id = ${cheaper.campaignId}`);
  await moveTo('AUTHENTICATION');
  expect(
    await runSendStep(dependencies, cheaper.campaignId, { budgetMs: 60_000, draining: () => false }),
  ).toMatchObject({ drained: true });
});
