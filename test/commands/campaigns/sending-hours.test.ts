import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { beginCampaign } from '../../../src/commands/campaigns/begin-campaign.ts';
import { checkSendingHours } from '../../../src/commands/campaigns/send-campaign.ts';
import { runSendStep } from '../../../src/commands/sending/run-send-step.ts';
import { weekDays } from '../../../src/domain/campaigns/sending-window.ts';
import { getCampaignSnapshot } from '../../../src/records/campaigns/campaign-snapshot.ts';
import { getSendingHours } from '../../../src/records/campaigns/sending-hours.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { checkBooks, seedCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { createFakeProvider } from '../../support/fake-provider.ts';
import { sendingDependencies } from '../../support/sending-dependencies.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const closingAt = Date.parse('2026-06-01T18:00:00Z');
const windows = [{ timezone: 'Europe/Berlin', from: '09:00', to: '20:00', days: weekDays }];

it('sends the last message before the window closes, and releases the rest of the claim', async () => {
  const campaign = await seedCampaign(test.pool, { recipients: 2_000, messagesPerSecond: 200 });
  const provider = createFakeProvider();
  const dependencies = sendingDependencies({ database: test.pool, provider });
  const hours = await getSendingHours(test.pool, campaign.campaignId);
  const beforeMs = 2_500;
  const closesAt = performance.now() + beforeMs;
  const open = await checkSendingHours(dependencies, campaign.campaignId, {
    ...hours,
    windows,
    now: closingAt - beforeMs,
  });
  if (!open.isOpen) throw new Error('the window should be open');
  const step = await runSendStep(dependencies, campaign.campaignId, {
    budgetMs: 10_000,
    isFollowed: true,
    draining: open.isOver,
  });
  expect(step.drained).toBe(false);
  const { received } = provider;
  expect(received.length).toBeGreaterThan(0);
  expect(received.at(-1)?.at).toBeLessThan(closesAt);
  const { counts } = await getCampaignSnapshot(test.pool, campaign.campaignId);
  expect(counts).toMatchObject({ claimed: 0, unknown: 0, accepted: received.length });
  expect(counts.pending).toBe(2_000 - received.length);
  expect(await checkBooks(test.pool, campaign)).toMatchObject({ reserved: 0n });
});

it.each([
  ['for the closing in the last moments of the window', closingAt - 200, 200],
  ['for the next opening after the closing', closingAt, 13 * 3_600_000],
  ['for the opening just before it', closingAt + 13 * 3_600_000 - 1, 1],
])('waits %s', async (_, now, waitMs) => {
  const { campaignId } = await seedCampaign(test.pool, { recipients: 10 });
  const dependencies = sendingDependencies({ database: test.pool, provider: createFakeProvider() });
  const hours = await getSendingHours(test.pool, campaignId);
  const open = await checkSendingHours(dependencies, campaignId, { ...hours, windows, now });
  expect(open).toEqual({ isOpen: false, waitMs });
});

it('closes earlier, never later, when the answer of Postgres was slow', async () => {
  const { campaignId } = await seedCampaign(test.pool, { recipients: 10 });
  const dependencies = sendingDependencies({ database: test.pool, provider: createFakeProvider() });
  const hours = await getSendingHours(test.pool, campaignId);
  const open = await checkSendingHours(dependencies, campaignId, {
    ...hours,
    windows,
    now: closingAt - 2_000,
    askedAt: performance.now() - 3_000,
  });
  expect(open.isOpen && open.isOver()).toBe(true);
});

it('has no end for a campaign without a window', async () => {
  const { campaignId } = await seedCampaign(test.pool, { recipients: 10 });
  const dependencies = sendingDependencies({ database: test.pool, provider: createFakeProvider() });
  const open = await checkSendingHours(
    dependencies,
    campaignId,
    await getSendingHours(test.pool, campaignId),
  );
  expect(open.isOpen && open.isOver()).toBe(false);
});

const paused = { status: 'PAUSED', pauseReason: 'TEMPLATE_UNAVAILABLE' };

/** A campaign whose messages offer something until `endsAt`. */
async function seedOffer(endsAt: number, status: 'DRAFT' | 'RUNNING') {
  const provider = createFakeProvider();
  const dependencies = sendingDependencies({ database: test.pool, provider });
  const { campaignId } = await seedCampaign(test.pool, { recipients: 2, status });
  const offer = { type: 'limited_time_offer', limited_time_offer: { expiration_time_ms: endsAt } };
  await test.pool.query(sql.type(nothing)`
    UPDATE campaign SET message_plan = jsonb_set(message_plan, '{components}', message_plan -> 'components' ||
      ${sql.jsonb([{ type: 'limited_time_offer', parameters: [offer] }])})
    WHERE id = ${campaignId}`);
  return { campaignId, dependencies, provider };
}

it('begins no campaign whose offer has ended', async () => {
  const { campaignId, dependencies } = await seedOffer(Date.now() - 1, 'DRAFT');
  await beginCampaign(dependencies, campaignId);
  expect(await getCampaignSnapshot(test.pool, campaignId)).toMatchObject(paused);
});

it('sends nothing of an offer that ends while the campaign runs', async () => {
  const { campaignId, dependencies, provider } = await seedOffer(Date.now() - 1, 'RUNNING');
  const step = await runSendStep(dependencies, campaignId, { budgetMs: 1_000, draining: () => false });
  expect(step).toEqual({ drained: false, waitMs: 0 });
  expect(provider.received).toEqual([]);
  expect(await getCampaignSnapshot(test.pool, campaignId)).toMatchObject({
    ...paused,
    counts: { pending: 2 },
  });
});

it('does not wait for a window that opens after the end of the offer', async () => {
  const hour = 3_600_000;
  const time = (hours: number) => new Date(Date.now() + hours * hour).toISOString().slice(11, 16);
  const later = [{ timezone: 'UTC', from: time(2), to: time(4), days: weekDays }];
  const check = async (endsAt: number) => {
    const { campaignId, dependencies } = await seedOffer(endsAt, 'RUNNING');
    await test.pool.query(sql.type(nothing)`
      UPDATE campaign SET sending_window = ${sql.jsonb(later[0] ?? null)} WHERE id = ${campaignId}`);
    const open = await checkSendingHours(
      dependencies,
      campaignId,
      await getSendingHours(test.pool, campaignId),
    );
    expect(open.isOpen).toBe(false);
    return getCampaignSnapshot(test.pool, campaignId);
  };
  expect(await check(Date.now() + hour)).toMatchObject(paused);
  expect(await check(Date.now() + 3 * hour)).toMatchObject({ status: 'RUNNING' });
});
