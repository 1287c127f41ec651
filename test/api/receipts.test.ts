/** A campaign through the simulator over HTTP both ways: its receipts come doubled, in any order, with or without our own ids. */
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { receiveProviderCallback } from '../../src/api/provider-webhook.ts';
import { createCallbackPoll } from '../../src/commands/callbacks/apply-provider-callbacks.ts';
import { runSendStep } from '../../src/commands/sending/run-send-step.ts';
import { applyUnmatchedStatuses } from '../../src/commands/callbacks/settle-unmatched-statuses.ts';
import { createCloudProvider } from '../../src/provider/cloud-provider.ts';
import { startTestSimulator, type SimulatorClient } from '../local/simulator/client.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { appSecret, eventsOf, rowsOf, subscribeToAll } from '../support/callback-fixtures.ts';
import { checkBooks, seedCampaign, testSecrets } from '../support/campaign-factory.ts';

let api: TestApi;
let simulator: SimulatorClient;

beforeAll(async () => {
  simulator = await startTestSimulator({ appSecret });
  api = await startTestApi({
    endpoints: [receiveProviderCallback],
    config: { providerAppSecret: appSecret },
    dependencies: {
      provider: createCloudProvider({ baseUrl: simulator.baseUrl, connections: 16, timeoutMs: 10_000 }),
      secrets: testSecrets,
    },
  });
});
afterAll(async () => {
  await simulator.close();
  await api.dependencies.provider.close();
  await api.close();
});

const size = 240;

describe.each([
  ['with our own ids', true],
  ['by the provider’s ids alone', false],
])('receipts %s', (_, callbackData) => {
  it('end every message in the right state, with each event once and the books in order', async () => {
    const { database } = api.dependencies;
    const campaign = await seedCampaign(database, { recipients: size });
    const { campaignId, channelId, workspaceId } = campaign;
    await subscribeToAll(database, workspaceId);
    const businessAccountId = `account-${workspaceId}`;
    await simulator.control('accounts', { businessAccountId, phoneNumberIds: [channelId] });
    const components = [{ type: 'BODY', text: 'Hi {{1}}' }];
    const template = { name: 'hello', language: 'en_US', category: 'UTILITY', components };
    await simulator.control('templates', { businessAccountId, template });
    await simulator.control('callbacks', {
      url: `${api.baseUrl}/provider/webhook`,
      callbackData,
      // Some come before the answers are recorded.
      sentDelayMs: 1,
      deliveredDelayMs: 30,
      readDelayMs: 30,
      failedRate: 0.1,
      undeliveredRate: 0.1,
      duplicateRate: 0.3,
      shuffle: true,
      batchSize: 25,
    });

    const send = async () => {
      const options = { budgetMs: 5_000, draining: () => false };
      while (!(await runSendStep(api.dependencies, campaignId, options)).drained);
    };
    const apply = async () => {
      while ((await createCallbackPoll(api.dependencies)()) > 0);
      while ((await applyUnmatchedStatuses(api.dependencies)) > 0);
    };
    await Promise.all([send(), apply(), apply()]);
    expect(await simulator.control('flush')).toEqual({ flushed: true });
    await Promise.all([apply(), apply()]);
    await apply();

    const [counts] = await rowsOf<Readonly<Record<'sent' | 'delivered' | 'read' | 'failed', number>>>(
      database,
      sql.fragment`SELECT sent, delivered, read, failed FROM campaign_counter WHERE campaign_id = ${campaignId}`,
    );
    const { sent, delivered, read, failed } = counts ?? { sent: 0, delivered: 0, read: 0, failed: 0 };
    expect(sent + delivered + read + failed).toBe(size);
    expect(Math.min(sent, delivered, read, failed)).toBeGreaterThan(0);
    expect(await checkBooks(database, campaign)).toMatchObject({
      counters_fit: true,
      reserved: 0n,
      owed: 0n,
    });

    const events = await eventsOf(database, workspaceId);
    const received = events.map(({ eventKey, data }) => `${eventKey} ${data.status.id}`);
    expect(new Set(received).size).toBe(received.length);
    const tally = (key: string) => events.filter(({ eventKey }) => eventKey === key).length;
    expect([tally('failed'), tally('read'), tally('delivered'), tally('sent')]).toEqual([
      failed,
      read,
      read + delivered,
      read + delivered + sent,
    ]);
    expect(events.every(({ data }) => data.messageSource === 'campaign')).toBe(true);
    expect(
      await rowsOf(database, sql.fragment`SELECT 1 FROM unmatched_status WHERE channel_id = ${channelId}`),
    ).toEqual([]);
  });
});
