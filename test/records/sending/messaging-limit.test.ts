import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { settleCampaign } from '../../../src/commands/campaigns/settle-campaign.ts';
import { sendSingleMessage } from '../../../src/commands/messages/send-single-message.ts';
import { runSendStep } from '../../../src/commands/sending/run-send-step.ts';
import { MessagingLimitReached } from '../../../src/domain/error.ts';
import { getCampaignSnapshot } from '../../../src/records/campaigns/campaign-snapshot.ts';
import { nothing, row } from '../../../src/records/database/row.ts';
import { claimBatch } from '../../../src/records/sending/claim-batch.ts';
import { setMessagingLimit, setPortfolio } from '../../../src/records/sending/messaging-limit.ts';
import { findChannelById } from '../../../src/records/workspaces/channels.ts';
import { getChannelState } from '../../../src/records/workspaces/channel-states.ts';
import { getTemplate } from '../../../src/records/templates/templates.ts';
import {
  anyTokens,
  checkBooks,
  messagePrice,
  seedCampaign,
  type SeededCampaign,
} from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { createFakeProvider } from '../../support/fake-provider.ts';
import { connectLockHolder, type LockHolder } from '../../support/lock-holder.ts';
import { sendingDependencies } from '../../support/sending-dependencies.ts';

let test: TestDatabase;
let locks: LockHolder;
beforeAll(async () => {
  test = await createTestDatabase({ poolSize: 10 });
  locks = await connectLockHolder(test.ownerUrl);
});
afterAll(async () => {
  await locks.end();
  await test.drop();
});

const provider = createFakeProvider();
const dependencies = () => sendingDependencies({ database: test.pool, provider });
const query = (statement: ReturnType<typeof sql.fragment>) =>
  test.pool.query(sql.type(nothing)`${statement}`);

async function limitTo(limit: number | null, { channelId }: SeededCampaign): Promise<void> {
  const channel = await findChannelById(test.pool, channelId);
  const accountId = channel?.businessAccountId ?? '';
  await test.pool.transaction((transaction) =>
    setMessagingLimit(transaction, accountId, { limit, reportedAt: new Date() }),
  );
}

/** A second campaign of the same channel; the phone numbers of its recipients begin after the number `from`. */
async function besideIt(seeded: SeededCampaign, from: number, recipients: number): Promise<SeededCampaign> {
  const other = await seedCampaign(test.pool, { recipients });
  await query(sql.fragment`UPDATE campaign SET channel_id = ${seeded.channelId}, workspace_id = ${seeded.workspaceId},
    template_id = ${seeded.templateId} WHERE id = ${other.campaignId}`);
  await query(sql.fragment`UPDATE recipient SET phone_number = (4915200000000 + ${from}::int + position)::text
    WHERE campaign_id = ${other.campaignId}`);
  return { ...seeded, campaignId: other.campaignId };
}

const step = ({ campaignId }: SeededCampaign) =>
  runSendStep(dependencies(), campaignId, { budgetMs: 20_000, draining: () => false });

const acceptedOf = async ({ campaignId }: SeededCampaign) =>
  (await getCampaignSnapshot(test.pool, campaignId)).counts.accepted;

const usedOf = async ({ workspaceId, channelId }: SeededCampaign) =>
  getChannelState(test.pool, workspaceId, channelId);

async function single({ workspaceId, channelId, templateId }: SeededCampaign, to: string) {
  const channel = await findChannelById(test.pool, channelId);
  if (channel === undefined) throw new Error('no channel');
  const template = await getTemplate(test.pool, workspaceId, templateId);
  const message = { channel, template, components: [], recipient: { to, country: 'DE' } };
  return sendSingleMessage(dependencies(), { ...message, source: 'api', campaignId: null });
}

const dayMs = 24 * 3_600_000;

it('sends to as many people as the limit, reports what it waits for, and continues when quota frees', async () => {
  const seeded = await seedCampaign(test.pool, { recipients: 1_200 });
  await limitTo(1_000, seeded);
  const waiting = await step(seeded);
  expect(waiting.drained).toBe(false);
  expect(Math.abs(waiting.waitMs - dayMs)).toBeLessThan(11 * 60_000);
  const snapshot = await getCampaignSnapshot(test.pool, seeded.campaignId);
  expect(snapshot).toMatchObject({
    status: 'RUNNING',
    waitingFor: 'MESSAGING_LIMIT',
    counts: { accepted: 1_000, pending: 200, claimed: 0, failed: 0 },
  });
  expect(Math.abs(Date.parse(String(snapshot.waitingUntil)) - Date.now() - waiting.waitMs)).toBeLessThan(
    5_000,
  );
  expect(await usedOf(seeded)).toMatchObject({
    waiting_for: 'MESSAGING_LIMIT',
    messaging_limit: 1_000,
    messaging_used: 1_000,
    messaging_room_at: expect.any(Date),
  });
  // A day later.
  await query(sql.fragment`UPDATE account_reach SET at = at - interval '1 day 20 minutes'`);
  await query(sql.fragment`UPDATE account_reach_count SET at = at - interval '1 day 20 minutes'`);
  expect(await step(seeded)).toMatchObject({ drained: true });
  expect(await settleCampaign(dependencies(), seeded.campaignId)).toBe(0);
  expect(await getCampaignSnapshot(test.pool, seeded.campaignId)).toMatchObject({
    status: 'COMPLETED',
    waitingFor: null,
    counts: { accepted: 1_200, failed: 0, pending: 0 },
  });
  expect(await usedOf(seeded)).toMatchObject({ messaging_used: 200, messaging_room_at: null });
  expect(await checkBooks(test.pool, seeded)).toMatchObject({ reserved: 0n, counters_fit: true });
});

it('is never exceeded by two campaigns and single sends side by side', async () => {
  const seeded = await seedCampaign(test.pool, { recipients: 300 });
  const other = await besideIt(seeded, 0, 300);
  await limitTo(100, seeded);
  const before = provider.received.length;
  const refused = async (index: number): Promise<unknown> => {
    await sleep(index * 5);
    try {
      await single(seeded, String(4_916_000_000_000 + index));
      return undefined;
    } catch (error) {
      return error;
    }
  };
  const singles = Promise.all(Array.from({ length: 40 }, (_, index) => refused(index)));
  const [answers] = await Promise.all([singles, step(seeded), step(other), step(seeded), step(other)]);
  await Promise.all([step(seeded), step(other)]);
  const errors = answers.filter((answer) => answer !== undefined);
  for (const error of errors) expect(error).toBeInstanceOf(MessagingLimitReached);
  const ofSingles = answers.length - errors.length;
  expect((await acceptedOf(seeded)) + (await acceptedOf(other)) + ofSingles).toBe(100);
  const people = new Set(provider.received.slice(before).map(({ to }) => to));
  expect(people.size).toBe(100);
  expect((await usedOf(seeded)).messaging_used).toBe(100);
});

it('counts each person once, and leaves out those who wrote within a day', async () => {
  const seeded = await seedCampaign(test.pool, { recipients: 10 });
  const contactId = randomUUID();
  await query(sql.fragment`INSERT INTO contact (id, workspace_id, phone_number, country_code, country, source)
    VALUES (${contactId}, ${seeded.workspaceId}, '4915100000004', '49', 'DE', 'incoming')`);
  await query(sql.fragment`UPDATE recipient SET contact_id = ${contactId}
    WHERE campaign_id = ${seeded.campaignId} AND position = 4`);
  await query(sql.fragment`INSERT INTO conversation (workspace_id, channel_id, contact_id, inbound_at)
    VALUES (${seeded.workspaceId}, ${seeded.channelId}, ${contactId}, now())`);
  await limitTo(3, seeded);
  await single(seeded, '4915100000001');
  await single(seeded, '4915100000001');
  // One person was written to before, and one has written.
  expect((await step(seeded)).drained).toBe(false);
  expect(await acceptedOf(seeded)).toBe(4);
  await single(seeded, '4915100000002');
  await expect(single(seeded, '4915100000009')).rejects.toThrow(
    'The messaging limit of the business account',
  );
  expect((await usedOf(seeded)).messaging_used).toBe(3);
});

const Command = row(t.type({ campaign_id: t.string, kind: t.string }));

it('counts people messaged before it was set, and notifies waiting campaigns when it is raised', async () => {
  const seeded = await seedCampaign(test.pool, { recipients: 30 });
  await step(seeded);
  const other = await besideIt(seeded, 1_000, 20);
  await limitTo(40, seeded);
  expect((await usedOf(seeded)).messaging_used).toBe(30);
  expect((await step(other)).waitMs).toBeGreaterThan(60_000);
  expect(await acceptedOf(other)).toBe(10);
  await query(sql.fragment`DELETE FROM workflow_outbox`);
  await limitTo(2_000, seeded);
  expect(
    await test.pool.any(
      sql.type(Command)`SELECT campaign_id, kind FROM workflow_outbox ORDER BY campaign_id`,
    ),
  ).toContainEqual({ campaign_id: other.campaignId, kind: 'refresh' });
  expect(await step(other)).toMatchObject({ drained: true });
  expect(await acceptedOf(other)).toBe(20);
});

it('counts the people, not the messages, that were sent before it was set', async () => {
  const seeded = await seedCampaign(test.pool, { recipients: 30 });
  const same = [await besideIt(seeded, 0, 30), await besideIt(seeded, 0, 30), await besideIt(seeded, 0, 30)];
  const others = await besideIt(seeded, 1_000, 30);
  for (const campaign of [...same, others]) await step(campaign);
  await limitTo(60, seeded);
  expect((await usedOf(seeded)).messaging_used).toBe(60);
});

it('counts the people of single sends before it was set', async () => {
  const seeded = await seedCampaign(test.pool, { recipients: 1 });
  for (const to of ['4915100000101', '4915100000102', '4915100000102']) await single(seeded, to);
  // A message written in the provider's app does not count.
  await query(sql.fragment`INSERT INTO message (workspace_id, channel_id, direction, source, phone_number, state, provider_message_id)
    VALUES (${seeded.workspaceId}, ${seeded.channelId}, 'outbound', 'app', '4915100000103', 'ACCEPTED', 'wamid.app')`);
  await limitTo(60, seeded);
  expect((await usedOf(seeded)).messaging_used).toBe(2);
});

it('is exact for a campaign that sends while it is set', async () => {
  const seeded = await seedCampaign(test.pool, { recipients: 4_000, messagesPerSecond: 1_000 });
  const before = provider.received.length;
  const sending = step(seeded);
  await expect.poll(() => acceptedOf(seeded), { interval: 20 }).toBeGreaterThan(100);
  await limitTo(1_500, seeded);
  await sending;
  expect((await step(seeded)).waitMs).toBeGreaterThan(60_000);
  expect(provider.received.length - before).toBe(1_500);
  expect((await usedOf(seeded)).messaging_used).toBe(1_500);
});

const claim = (seeded: SeededCampaign, limit: number, limited: boolean) =>
  claimBatch(test.pool, {
    ...anyTokens,
    ...seeded,
    claimId: randomUUID(),
    epoch: 0,
    limit,
    limited,
    prices: new Map([['', messagePrice]]),
  });

it('counts people whose message is on its way when it is set', async () => {
  const seeded = await seedCampaign(test.pool, { recipients: 30 });
  expect(await claim(seeded, 10, false)).toMatchObject({ kind: 'batch' });
  await limitTo(20, seeded);
  expect((await usedOf(seeded)).messaging_used).toBe(10);
  // A step that read its campaign before: its claim ends it, and the next step knows of the limit.
  expect(await claim(seeded, 10, false)).toMatchObject({ kind: 'stale_epoch' });
  await step(seeded);
  expect(await acceptedOf(seeded)).toBe(10);
});

it('applies to single sends that began before it was set', async () => {
  const seeded = await seedCampaign(test.pool, { recipients: 1 });
  // The new limit is not committed before its notice is written.
  await locks.hold('LOCK TABLE account_reach IN SHARE MODE');
  const limits = limitTo(1, seeded);
  await locks.untilWaiting(1, limits);
  const sends = Promise.allSettled(['4915100000201', '4915100000202'].map((to) => single(seeded, to)));
  await locks.untilWaiting(3, sends);
  await locks.release();
  await limits;
  const refused = (await sends).flatMap((sent) =>
    sent.status === 'rejected' ? [sent.reason as unknown] : [],
  );
  expect(refused).toEqual([expect.any(MessagingLimitReached)]);
  expect((await usedOf(seeded)).messaging_used).toBe(1);
});

it('is lowered after the claims that still knew the higher one', async () => {
  const seeded = await seedCampaign(test.pool, { recipients: 30, messagingLimit: 100 });
  await locks.hold('SELECT FROM wallet WHERE channel_id = $1 FOR UPDATE', [seeded.channelId]);
  const order: string[] = [];
  const claims = claim(seeded, 10, true).then(() => order.push('claimed'));
  await locks.untilWaiting(1, claims);
  const lowers = limitTo(5, seeded).then(() => order.push('lowered'));
  await locks.untilWaiting(2, lowers);
  await locks.release();
  await Promise.all([claims, lowers]);
  expect(order).toEqual(['claimed', 'lowered']);
});

it('pauses a campaign whose wallet is empty as well', async () => {
  const seeded = await seedCampaign(test.pool, { recipients: 2, balance: messagePrice, messagingLimit: 1 });
  await step(seeded);
  expect(await acceptedOf(seeded)).toBe(1);
  await step(seeded);
  expect(await getCampaignSnapshot(test.pool, seeded.campaignId)).toMatchObject({
    status: 'PAUSED',
    pauseReason: 'INSUFFICIENT_BALANCE',
  });
});

it('counts the contact of its own workspace for a number that two workspaces know', async () => {
  const seeded = await seedCampaign(test.pool, { recipients: 1, messagingLimit: 5 });
  const foreign = await seedCampaign(test.pool, { recipients: 1 });
  for (const { workspaceId, channelId } of [foreign, seeded])
    await query(sql.fragment`
      WITH person AS (
        INSERT INTO contact (workspace_id, phone_number, country_code, country, source)
        VALUES (${workspaceId}, '4915100000301', '49', 'DE', 'incoming') RETURNING workspace_id, id)
      INSERT INTO conversation (workspace_id, channel_id, contact_id, inbound_at)
      SELECT workspace_id, ${channelId}::uuid, id, CASE WHEN ${workspaceId === seeded.workspaceId} THEN now() END FROM person`);
  await single(seeded, '4915100000301');
  // The person wrote to this workspace within a day, so the message does not count.
  expect((await usedOf(seeded)).messaging_used).toBe(0);
});

it('is shared by the accounts of a portfolio', async () => {
  const [one, other] = [
    await seedCampaign(test.pool, { recipients: 15 }),
    await seedCampaign(test.pool, { recipients: 20 }),
  ];
  // Different people.
  await query(sql.fragment`UPDATE recipient SET phone_number = (4915300000000 + position)::text
    WHERE campaign_id = ${other.campaignId}`);
  await limitTo(12, one);
  await step(one);
  expect(await acceptedOf(one)).toBe(12);
  for (const { channelId } of [one, other]) {
    const account = (await findChannelById(test.pool, channelId))?.businessAccountId ?? '';
    await test.pool.transaction((transaction) => setPortfolio(transaction, account, '4711'));
  }
  expect(await usedOf(other)).toMatchObject({ messaging_limit: 12, messaging_used: 12 });
  expect(await step(other)).toMatchObject({ drained: false });
  expect(await acceptedOf(other)).toBe(0);
  expect(await getCampaignSnapshot(test.pool, other.campaignId)).toMatchObject({
    waitingFor: 'MESSAGING_LIMIT',
  });

  await limitTo(20, other);
  await step(other);
  expect(await acceptedOf(other)).toBe(8);
  expect(await usedOf(one)).toMatchObject({ messaging_limit: 20, messaging_used: 20 });
  await step(one);
  expect(await acceptedOf(one)).toBe(12);
  await limitTo(null, one);
  expect(await step(one)).toMatchObject({ drained: true });
  expect(await step(other)).toMatchObject({ drained: true });
});
