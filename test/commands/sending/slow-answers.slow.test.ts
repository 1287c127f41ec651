/** A provider that answers some messages late. The tests run concurrently, each on a channel of its own: they mostly wait. */
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
const slowMs = 25_000;
/** A channel's unanswered messages: 10 s of its rate. */
const most = 10 * perSecond;
/** 30 s, more than an answer takes, so that the limit of unanswered messages is reached. */
const measuredMs = 30_000;

async function measure(isSlow: (count: number) => boolean) {
  const seeded = await seedCampaign(test.pool, { recipients: 2_000, messagesPerSecond: perSecond });
  const over = new AbortController();
  let [unanswered, mostUnanswered] = [0, 0];
  const provider = createFakeProvider(async (message, count) => {
    unanswered += 1;
    mostUnanswered = Math.max(mostUnanswered, unanswered);
    await sleep(isSlow(count) ? slowMs : 20, undefined, { signal: over.signal }).catch(() => undefined);
    unanswered -= 1;
    return accept(message, count);
  });
  const crowd = createCrowd({ database: test.pool, provider, config: { providerConnections: 512 } });
  void crowd.drive(seeded);
  await sleep(5_000);
  const before = provider.received.length;
  await sleep(measuredMs);
  const rate = ((provider.received.length - before) * 1_000) / measuredMs;
  over.abort();
  await crowd.stop();
  return { share: rate / perSecond, mostUnanswered };
}

it.concurrent('keeps 0.8 of the rate with one answer in ten 25 s late', async () => {
  const { share, mostUnanswered } = await measure((count) => count % 10 === 0);
  expect(share).toBeGreaterThan(0.8);
  expect(mostUnanswered).toBeLessThanOrEqual(most);
});

it.concurrent('keeps half of the rate with half of the answers 25 s late', async () => {
  const { share, mostUnanswered } = await measure((count) => count % 2 === 0);
  expect(share).toBeGreaterThan(0.5);
  expect(mostUnanswered).toBeLessThanOrEqual(most);
});

it.concurrent('says that the channel waits for the provider, and how long it will take', async ({
  expect: expectHere,
}) => {
  const seeded = await seedCampaign(test.pool, { recipients: 2_000, messagesPerSecond: perSecond });
  let answersAfterMs = 4_000;
  const provider = createFakeProvider(async (message, count) => {
    await sleep(answersAfterMs);
    return accept(message, count);
  });
  const crowd = createCrowd({ database: test.pool, provider });
  void crowd.drive(seeded);
  const waitingFor = async () => (await getCampaignSnapshot(test.pool, seeded.campaignId)).waitingFor;
  await expectHere.poll(waitingFor, { timeout: 20_000 }).toBe('CHANNEL_TROUBLE');
  const { rate } = await getCampaignReport(test.pool, seeded.workspaceId, seeded.campaignId);
  expect(rate).toBeLessThan(perSecond / 4);
  expect(rate).toBeGreaterThan(0);
  expect(await listImpairedChannels(test.pool, 100)).toContainEqual(
    expect.objectContaining({ id: seeded.channelId, kind: 'slow' }),
  );
  answersAfterMs = 10;
  await expectHere.poll(waitingFor, { timeout: 50_000 }).toBeNull();
  await crowd.stop();
});
