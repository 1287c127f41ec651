import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  sendSingleMessage,
  type SingleMessage,
  type SingleSender,
} from '../../src/commands/messages/send-single-message.ts';
import type { Database } from '../../src/records/database/database.ts';
import { aSignal } from '../support/a-signal.ts';
import { seedCampaign, testSecrets } from '../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createFakeProvider } from '../support/fake-provider.ts';
import { watchStalls } from '../support/watch-stalls.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase({ poolSize: 20 });
});
afterAll(() => test.drop());

/** Tokens are taken at the request, and every answer is held back until `opened`, as by a stalled network. */
function holdingTokens(database: Database, opened: Promise<void>, onToken: () => void): Database {
  return {
    ...database,
    one: async (query: Parameters<Database['one']>[0]) => {
      const answer: unknown = await database.one(query);
      if (query.sql.includes('channel_rate')) {
        onToken();
        await opened;
      }
      return answer;
    },
  } as Database;
}

it('keeps the limit of the channel when the answers of a stalled database come all at once', async () => {
  const rate = 10;
  const seeded = await seedCampaign(test.pool, { recipients: 1, messagesPerSecond: rate });
  const provider = createFakeProvider();
  let tokens = 0;
  const [opened, open] = aSignal();
  const dependencies = {
    database: holdingTokens(test.pool, opened, () => (tokens += 1)),
    provider,
    secrets: testSecrets,
    logger: pino({ level: 'silent' }),
    now: () => new Date(),
  } as unknown as SingleSender;
  const message = (index: number) =>
    ({
      channel: {
        id: seeded.channelId,
        workspaceId: seeded.workspaceId,
        phoneNumberId: seeded.channelId,
        accessTokenEncrypted: testSecrets.encrypt('token', `channel ${seeded.channelId}`),
      },
      template: { id: seeded.templateId, name: 'hello', language: 'en_US', category: 'UTILITY' },
      components: [],
      recipient: { to: `49151000${index}`, country: 'DE' },
      source: 'api',
      campaignId: null,
    }) as unknown as SingleMessage;

  const stalls = watchStalls();
  const sends: Promise<unknown>[] = [];
  for (let index = 0; index < 15; index += 1) {
    sends.push(sendSingleMessage(dependencies, message(index)));
    await sleep(100);
  }
  await expect.poll(() => tokens).toBe(15);
  // Longer than an answer may take.
  await sleep(300);
  open();
  await Promise.all(sends);
  stalls.stop();
  const times = provider.received.map(({ at }) => at).toSorted((a, b) => a - b);
  expect(times).toHaveLength(15);
  // Each dropped its first token for a new one.
  expect(tokens).toBeGreaterThanOrEqual(30);
  // At the rate they take 1.4 s; without new tokens all of them would leave at once. A stall delays the first ones.
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  expect(last - first + stalls.between(first - 1_000, first + 1_000)).toBeGreaterThan(1_000);
});
