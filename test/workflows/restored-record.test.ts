import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startCampaignAgain } from '../../src/commands/change-campaign.ts';
import { nothing } from '../../src/records/row.ts';
import { messagePrice } from '../support/campaign-factory.ts';
import { setCampaignScene, until } from '../support/campaign-scene.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { bundleWorkflows, startTemporal } from '../support/temporal.ts';

let database: TestDatabase;
let temporal: TestWorkflowEnvironment;
let workflowBundle: WorkflowBundleWithSourceMap;

beforeAll(async () => {
  [database, temporal, workflowBundle] = await Promise.all([
    createTestDatabase({ poolSize: 10 }),
    startTemporal(),
    bundleWorkflows(),
  ]);
});
afterAll(async () => {
  await temporal?.teardown();
  await database?.drop();
});

it('sends nothing when its record is older than what it has seen, however often it is started again', async () => {
  const scene = await setCampaignScene(
    { database: database.pool, temporal, workflowBundle },
    { recipients: 40, balance: messagePrice * 25n },
  );
  await scene.withWorker(async () => {
    await scene.start();
    await until(async () => (await scene.standing()).pauseReason === 'INSUFFICIENT_BALANCE');
    expect(scene.provider.received).toHaveLength(25);

    // The database of ten minutes ago: nobody was sent yet, and there is money.
    await database.pool.query(sql.type(nothing)`
      UPDATE campaign_counter SET claimed_position = 0, pending = 40, accepted = 0 WHERE campaign_id = ${scene.campaignId}`);
    await database.pool.query(sql.type(nothing)`
      UPDATE recipient SET state = 'PENDING', settlement = 'none', claim_id = NULL WHERE campaign_id = ${scene.campaignId}`);
    await database.pool.query(sql.type(nothing)`UPDATE wallet SET balance = ${messagePrice * 100n}`);
    for (let time = 0; time < 2; time += 1) {
      await startCampaignAgain(scene.dependencies, scene);
      await until(async () => (await scene.standing()).pauseReason === 'OPERATOR');
    }
  });
  expect(scene.provider.received).toHaveLength(25);
  expect(await scene.standing()).toMatchObject({ status: 'PAUSED', counts: { pending: 40 } });
});
