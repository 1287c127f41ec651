import { MockActivityEnvironment } from '@temporalio/testing';
import { inspect } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCampaignActivities } from '../../src/activities/campaign.ts';
import { seedCampaign } from '../support/campaign-factory.ts';
import { until } from '../support/campaign-scene.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createFakeProvider } from '../support/fake-provider.ts';
import { sendingDependencies } from '../support/sending-dependencies.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

it('sends nothing more in a step that Temporal has given up or whose workflow was terminated', async () => {
  const recipients = 2_000;
  const { campaignId } = await seedCampaign(test.pool, { recipients, messagesPerSecond: 100 });
  const provider = createFakeProvider();
  const dependencies = sendingDependencies({ database: test.pool, provider });
  const { sendStep } = createCampaignActivities(dependencies, { draining: () => false });
  const environment = new MockActivityEnvironment();
  const step: ReturnType<typeof sendStep> = environment.run(sendStep, campaignId);
  await until(async () => provider.received.length > 20);
  environment.cancel('NOT_FOUND');
  const { counts } = await step;
  // A step of full length sends a thousand.
  expect(provider.received.length).toBeLessThan(700);
  expect(counts).toMatchObject({ claimed: 0, unknown: 0, accepted: provider.received.length });
  expect(counts.pending).toBe(recipients - provider.received.length);
});

it('fails a step within seconds when its results cannot be written, and sends no more', async () => {
  const { campaignId } = await seedCampaign(test.pool, { recipients: 500, messagesPerSecond: 100 });
  const owner = new pg.Client({ connectionString: test.url });
  await owner.connect();
  await owner.query("ALTER TABLE recipient ADD CONSTRAINT broken CHECK (state <> 'ACCEPTED') NOT VALID");
  const provider = createFakeProvider();
  try {
    const dependencies = sendingDependencies({ database: test.pool, provider });
    const { sendStep } = createCampaignActivities(dependencies, { draining: () => false });
    const began = performance.now();
    const failure = await new MockActivityEnvironment()
      .run(sendStep, campaignId)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ constraint: 'broken' });
    expect(inspect(failure, { depth: 9 })).not.toContain('49151');
    expect(performance.now() - began).toBeLessThan(4_000);
    expect(provider.received.length).toBeLessThan(300);
  } finally {
    await owner.query('ALTER TABLE recipient DROP CONSTRAINT broken');
    await owner.end();
  }
});
