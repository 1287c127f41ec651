/** A provider that answers some messages late. The tests run concurrently, each on a channel of its own: they mostly wait. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { seedCampaign } from '../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { accept, createFakeProvider } from '../support/fake-provider.ts';
import { createCrowd } from '../support/sending-crowd.ts';

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
