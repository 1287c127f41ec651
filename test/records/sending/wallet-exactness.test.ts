import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startCampaignAgain } from '../../../src/commands/campaigns/change-campaign.ts';
import { runSendStep } from '../../../src/commands/sending/run-send-step.ts';
import { sendSingleMessage, type SingleMessage } from '../../../src/commands/messages/send-single-message.ts';
import { settleCampaign } from '../../../src/commands/campaigns/settle-campaign.ts';
import type { Dependencies } from '../../../src/dependencies.ts';
import { Invalid } from '../../../src/domain/error.ts';
import { getCampaignSnapshot } from '../../../src/records/campaigns/campaign-snapshot.ts';
import { nothing, row } from '../../../src/records/database/row.ts';
import { postLedgerEntry } from '../../../src/records/wallet/wallets.ts';
import {
  messagePrice,
  seedCampaign,
  testSecrets,
  type SeededCampaign,
} from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { createFakeProvider } from '../../support/fake-provider.ts';
import { sendingDependencies } from '../../support/sending-dependencies.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase({ poolSize: 12 });
});
afterAll(() => test.drop());

const recipients = 150;
const dearPrice = 2_300n;

/** Two campaigns on one wallet; every third recipient lives where a message costs more. */
async function createFixture(balance: bigint) {
  const first = await seedCampaign(test.pool, { recipients, balance });
  const other = await seedCampaign(test.pool, { recipients, balance: 0n });
  const second = { ...first, campaignId: other.campaignId };
  for (const statement of [
    sql.fragment`UPDATE campaign SET channel_id = ${first.channelId}, workspace_id = ${first.workspaceId},
      template_id = ${first.templateId} WHERE id = ${second.campaignId}`,
    sql.fragment`UPDATE recipient SET country = 'FR'
      WHERE campaign_id IN (${first.campaignId}, ${second.campaignId}) AND position % 3 = 0`,
    sql.fragment`INSERT INTO rate_card (workspace_id, category, country, price)
      VALUES (${first.workspaceId}, 'UTILITY', 'FR', ${dearPrice})`,
  ]) {
    await test.pool.query(sql.type(nothing)`${statement}`);
  }
  const provider = createFakeProvider();
  const dependencies = sendingDependencies({
    database: test.pool,
    provider,
    orchestrator: { refreshCampaign: async () => true },
  });
  return { campaigns: [first, second] as const, provider, dependencies };
}

/** Runs send steps in two lanes, as the workflow does, until the campaign stops. */
async function drive(dependencies: Dependencies, { campaignId }: SeededCampaign): Promise<string> {
  for (;;) {
    const { status } = await getCampaignSnapshot(test.pool, campaignId);
    if (status !== 'RUNNING') return status;
    const options = { budgetMs: 2_000, draining: () => false };
    const steps = await Promise.all([1, 2].map(() => runSendStep(dependencies, campaignId, options)));
    if (steps.every(({ drained }) => drained)) await settleCampaign(dependencies, campaignId);
  }
}

const singleTo = ({ channelId, workspaceId, templateId }: SeededCampaign, country: string) =>
  ({
    channel: {
      id: channelId,
      workspaceId,
      phoneNumberId: channelId,
      accessTokenEncrypted: testSecrets.encrypt('token', `channel ${channelId}`),
    },
    template: { id: templateId, name: 'hello', language: 'en_US', category: 'UTILITY' },
    components: [],
    recipient: { to: '4915200000000', country },
    source: 'api',
    campaignId: null,
  }) as unknown as SingleMessage;

const Purse = row(t.type({ balance: t.bigint, reserved: t.bigint, ledger: t.bigint, spent: t.bigint }));
const Next = row(t.type({ country: t.string }));

async function readWallet({ channelId }: SeededCampaign) {
  return test.pool.one(sql.type(Purse)`
    SELECT balance, reserved,
      (SELECT sum(amount)::bigint FROM ledger_entry WHERE channel_id = ${channelId}) AS ledger,
      (SELECT COALESCE(-sum(amount), 0)::bigint FROM ledger_entry
        WHERE channel_id = ${channelId} AND kind = 'charge') AS spent
    FROM wallet WHERE channel_id = ${channelId}`);
}

async function nextPrice({ campaignId }: SeededCampaign): Promise<bigint> {
  const { country } = await test.pool.one(sql.type(Next)`
    SELECT country FROM recipient WHERE campaign_id = ${campaignId} AND state = 'PENDING' ORDER BY position LIMIT 1`);
  return country === 'FR' ? dearPrice : messagePrice;
}

it('sends exactly as many messages of two campaigns and single sends as the wallet covers, and continues after a recharge', async () => {
  const { campaigns, provider, dependencies } = await createFixture(137_777n);
  const [first, second] = campaigns;
  const singles = Array.from({ length: 12 }, (_, index) =>
    sendSingleMessage(dependencies, singleTo(first, index % 2 === 0 ? 'DE' : 'FR')).then(
      () => true,
      (error: unknown) => {
        if (error instanceof Invalid) return false;
        throw error;
      },
    ),
  );
  const statuses = await Promise.all([drive(dependencies, first), drive(dependencies, second)]);
  const sent = (await Promise.all(singles)).filter(Boolean).length;
  expect(statuses).toEqual(['PAUSED', 'PAUSED']);
  for (const campaign of campaigns) {
    expect(await getCampaignSnapshot(test.pool, campaign.campaignId)).toMatchObject({
      pauseReason: 'INSUFFICIENT_BALANCE',
      counts: { claimed: 0, failed: 0, unknown: 0 },
    });
  }
  const emptied = await readWallet(first);
  expect(emptied).toMatchObject({ reserved: 0n, ledger: emptied.balance, spent: 137_777n - emptied.balance });
  for (const campaign of campaigns) expect(emptied.balance).toBeLessThan(await nextPrice(campaign));
  const before = provider.received.length;

  // Too little money for all recipients: the recharge starts nothing, and a start sends until the wallet is empty again.
  await postLedgerEntry(test.pool, { channelId: first.channelId, kind: 'recharge', amount: 50_000n });
  expect(await drive(dependencies, first)).toBe('PAUSED');
  expect(provider.received).toHaveLength(before);
  await startCampaignAgain(dependencies, first);
  expect(await drive(dependencies, first)).toBe('PAUSED');
  expect((await readWallet(first)).balance).toBeLessThan(await nextPrice(first));

  await postLedgerEntry(test.pool, { channelId: first.channelId, kind: 'recharge', amount: 1_000_000n });
  for (const campaign of campaigns) await startCampaignAgain(dependencies, campaign);
  const ends = await Promise.all([drive(dependencies, first), drive(dependencies, second)]);
  expect(ends).toEqual(['COMPLETED', 'COMPLETED']);
  const ids = provider.received.map(({ callbackData }) => callbackData);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toHaveLength(2 * recipients + sent);
});

it('completes a campaign whose last message uses up the balance', async () => {
  const { campaigns, provider, dependencies } = await createFixture(100n * messagePrice + 50n * dearPrice);
  expect(await drive(dependencies, campaigns[0])).toBe('COMPLETED');
  expect(provider.received).toHaveLength(recipients);
  expect((await readWallet(campaigns[0])).balance).toBe(0n);
  expect(await drive(dependencies, campaigns[1])).toBe('PAUSED');
  expect(provider.received).toHaveLength(recipients);
});
