import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { getCampaignReport } from '../../../src/records/campaigns/report.ts';
import { getCampaignSnapshot } from '../../../src/records/campaigns/campaign-snapshot.ts';
import { listImpairedChannels } from '../../../src/records/operations/impaired-channels.ts';
import { seedCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { accept, createFakeProvider } from '../../support/fake-provider.ts';
import { createCrowd } from '../../support/sending-crowd.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase({ poolSize: 16 });
});
afterAll(() => test.drop());

const perSecond = 20;

it('says that a channel waits for a slow provider, and how long it will take', async () => {
  const seeded = await seedCampaign(test.pool, { recipients: 2_000, messagesPerSecond: perSecond });
  let answersAfterMs = 4_000;
  const provider = createFakeProvider(async (message, count) => {
    await sleep(answersAfterMs);
    return accept(message, count);
  });
  const crowd = createCrowd({ database: test.pool, provider });
  void crowd.drive(seeded);
  const waitingFor = async () => (await getCampaignSnapshot(test.pool, seeded.campaignId)).waitingFor;
  await expect.poll(waitingFor, { timeout: 20_000 }).toBe('CHANNEL_TROUBLE');
  const { rate } = await getCampaignReport(test.pool, seeded.workspaceId, seeded.campaignId);
  expect(rate).toBeLessThan(perSecond / 4);
  expect(rate).toBeGreaterThan(0);
  expect(await listImpairedChannels(test.pool, 100)).toContainEqual(
    expect.objectContaining({ id: seeded.channelId, kind: 'slow' }),
  );
  answersAfterMs = 10;
  await expect.poll(waitingFor, { timeout: 50_000 }).toBeNull();
  await crowd.stop();
});
