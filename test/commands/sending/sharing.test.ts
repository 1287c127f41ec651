/** Many campaigns of one channel, each sent as its workflow has it sent. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { getCampaignStanding } from '../../../src/records/campaigns/standing.ts';
import { seedCampaign, type SeededCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { createFakeProvider } from '../../support/fake-provider.ts';
import { createCrowd, seedOnChannel } from '../../support/sending-crowd.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase({ poolSize: 12 });
});
afterAll(() => test.drop());

async function seedCampaigns(count: number, recipients: number, messagesPerSecond: number) {
  const first = await seedCampaign(test.pool, { recipients, messagesPerSecond });
  const campaigns = [first];
  while (campaigns.length < count) campaigns.push(await seedOnChannel(test.pool, first, { recipients }));
  return { first, campaigns };
}

const accepted = async ({ campaignId }: SeededCampaign) =>
  (await getCampaignStanding(test.pool, campaignId)).counts.accepted;

it('gives each of twenty campaigns its share of the channel, which never goes faster than its limit', async () => {
  const rate = 200;
  const { campaigns } = await seedCampaigns(20, 600, rate);
  const provider = createFakeProvider();
  const crowd = createCrowd({ database: test.pool, provider });
  for (const campaign of campaigns) void crowd.drive(campaign);
  await sleep(3_000);
  const [before, from] = [provider.received.length, performance.now()];
  await sleep(25_000);
  const perSecond = ((provider.received.length - before) * 1_000) / (performance.now() - from);
  await crowd.stop();
  // A machine that has other things to do claims late, and what is due meanwhile is lost; bench -- fairness says how much.
  expect(perSecond).toBeGreaterThan(rate * 0.5);
  expect(perSecond).toBeLessThanOrEqual(rate);
  const sent = await Promise.all(campaigns.map(accepted));
  const share = sent.reduce((sum, count) => sum + count, 0) / campaigns.length;
  expect(Math.min(...sent)).toBeGreaterThan(share * 0.5);
  expect(Math.max(...sent)).toBeLessThan(share * 1.5);
  // Two seconds a turn in four places, and asking again five times a second.
  expect(crowd.steps()).toBeLessThan(28 * (2 + 5) + 40);
}, 60_000);

it('sends one of ten recipients behind a hundred large ones within five seconds', async () => {
  const { first, campaigns } = await seedCampaigns(100, 400, 80);
  const provider = createFakeProvider();
  const crowd = createCrowd({ database: test.pool, provider });
  for (const campaign of campaigns) void crowd.drive(campaign);
  await sleep(4_000);
  const small = await seedOnChannel(test.pool, first, { recipients: 10 });
  const startedAt = performance.now();
  await crowd.drive(small);
  const tookMs = performance.now() - startedAt;
  await crowd.stop();
  expect(await accepted(small)).toBe(10);
  expect(tookMs).toBeLessThan(5_000);
}, 60_000);
