import { MockActivityEnvironment } from '@temporalio/testing';
import { inspect } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCampaignActivities } from '../../src/activities/campaign.ts';
import { postLedgerEntry } from '../../src/records/wallet/wallets.ts';
import { aCampaignToPrepare, aSender } from '../support/audience-campaign.ts';
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
  const owner = new pg.Client({ connectionString: test.ownerUrl });
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

describe('a small campaign', () => {
  const seedQuick = async (numbers: number) => {
    const sender = await aSender(test.pool);
    await postLedgerEntry(test.pool, { channelId: sender.channelId, kind: 'recharge', amount: 100_000_000n });
    const quickContacts = Array.from({ length: numbers }, (_, index) => `+49151${10_000_000 + index}`);
    return aCampaignToPrepare(test.pool, sender, {
      selectionType: 'quick_contacts',
      content: JSON.stringify(quickContacts),
    });
  };
  const prepare = async (campaignId: string) => {
    const provider = createFakeProvider();
    const dependencies = sendingDependencies({
      database: test.pool,
      provider,
      config: { databaseUrl: test.url },
    });
    const { prepareCampaign } = createCampaignActivities(dependencies, { draining: () => false });
    const run: ReturnType<typeof prepareCampaign> = new MockActivityEnvironment().run(
      prepareCampaign,
      campaignId,
    );
    return { standing: await run, provider };
  };

  it('goes from its preparation to its end in one step', async () => {
    const { standing, provider } = await prepare(await seedQuick(100));
    expect(standing).toMatchObject({
      status: 'COMPLETED',
      counts: { accepted: 100, pending: 0, claimed: 0 },
    });
    expect(provider.received).toHaveLength(100);
  });

  it('is one of a hundred recipients at the most', async () => {
    const { standing, provider } = await prepare(await seedQuick(101));
    expect(standing).toMatchObject({ status: 'DRAFT', prepared: true, counts: { pending: 101 } });
    expect(provider.received).toHaveLength(0);
  });
});
