import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { applyWaitingOptOuts } from '../../../src/commands/callbacks/change-subscription.ts';
import {
  pauseCampaignsOfTemplate,
  pauseRefusedChannels,
} from '../../../src/commands/campaigns/change-campaign.ts';
import { applyAccountNotification } from '../../../src/commands/workspaces/apply-account-notification.ts';
import { runSendStep } from '../../../src/commands/sending/run-send-step.ts';
import { pauseForBalance } from '../../../src/commands/sending/send-batches.ts';
import type { Dependencies } from '../../../src/dependencies.ts';
import { getCampaignSnapshot } from '../../../src/records/campaigns/campaign-snapshot.ts';
import type { AccountItem } from '../../../src/provider/notification-item.ts';
import {
  findNotifiedChannels,
  type NotifiedChannel,
} from '../../../src/records/workspaces/notified-channels.ts';
import { nothing, row } from '../../../src/records/database/row.ts';
import { expireClaims } from '../../../src/records/sending/claim-expiry.ts';
import { getSendingContext } from '../../../src/records/sending/sending-context.ts';
import {
  checkBooks,
  messagePrice,
  seedCampaign,
  type SeededCampaign,
} from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { accept, createFakeProvider, refuse, type FakeProvider } from '../../support/fake-provider.ts';
import { connectLockHolder } from '../../support/lock-holder.ts';
import { sendingDependencies } from '../../support/sending-dependencies.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase({ poolSize: 8 });
});
afterAll(() => test.drop());

const dependenciesWith = (provider: FakeProvider): Dependencies =>
  sendingDependencies({ database: test.pool, provider });

const accountItem: AccountItem = {
  kind: 'account',
  businessAccountId: null,
  phoneNumberId: null,
  field: 'messages',
  event: 'errors',
  facts: {},
  maySend: null,
  blockedUntil: null,
  quality: null,
  errors: [],
  timestamp: null,
  raw: null,
  messagingLimit: undefined,
};

async function findChannel(id: string): Promise<NotifiedChannel> {
  const { phoneNumberId } = await test.pool.one(
    sql.type(
      row(t.type({ phoneNumberId: t.string })),
    )`SELECT phone_number_id AS "phoneNumberId" FROM channel WHERE id = ${id}`,
  );
  const channel = (await findNotifiedChannels(test.pool, [phoneNumberId])).get(phoneNumberId);
  if (channel === undefined) throw new Error('No such channel');
  return channel;
}

const calm = { budgetMs: 4_000, draining: () => false };

describe('a failing provider', () => {
  it.each([
    ['answers with nonsense', () => ({ kind: 'unknown', cause: 'garbage' }) as const],
    ['reports an error of its own', refuse(131000)],
  ])('receives few messages when it %s, and the next step waits', async (_, answer) => {
    const seeded = await seedCampaign(test.pool, { recipients: 200, messagesPerSecond: 200 });
    const provider = createFakeProvider(answer);
    const step = await runSendStep(dependenciesWith(provider), seeded.campaignId, calm);
    expect(provider.received.length).toBeLessThan(30);
    expect(step).toMatchObject({ drained: false });
    expect(step.waitMs).toBeGreaterThan(0);
    const { status, counts } = await getCampaignSnapshot(test.pool, seeded.campaignId);
    expect(status).toBe('RUNNING');
    expect(counts).toMatchObject({ claimed: 0, failed: 0 });
    expect(counts.pending + counts.unknown).toBe(200);
  });

  it('causes no wait by a few lost answers among others', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 60 });
    const provider = createFakeProvider((message, count) =>
      count % 3 === 0
        ? { kind: 'unknown', cause: 'timed out' }
        : {
            kind: 'accepted',
            providerMessageId: message.callbackData,
            messageStatus: 'accepted',
            otherIds: [],
          },
    );
    const step = await runSendStep(dependenciesWith(provider), seeded.campaignId, calm);
    expect(step).toMatchObject({ drained: true });
    expect(provider.received).toHaveLength(60);
  });
});

describe('a batch that is delayed', () => {
  it('sends nothing more once another step may have marked its recipients UNKNOWN', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 20, messagesPerSecond: 200 });
    const now = performance.now.bind(performance);
    let stalledMs = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now() + stalledMs);
    const provider = createFakeProvider(async (message, count) => {
      stalledMs = 5_000;
      await expireClaims(test.pool, { campaignId: seeded.campaignId, graceSeconds: 0 });
      return accept(message, count);
    });
    await runSendStep(dependenciesWith(provider), seeded.campaignId, { ...calm, budgetMs: 500 });
    expect(provider.received).toHaveLength(1);
    expect(await checkBooks(test.pool, seeded)).toMatchObject({ counters_fit: true });
    const { counts } = await getCampaignSnapshot(test.pool, seeded.campaignId);
    expect(counts).toMatchObject({ accepted: 1, claimed: 0, unknown: 0 });
    expect(counts.failed + counts.pending).toBe(19);
  });
});

/** Two campaigns of one template on two channels of an account. */
async function twoChannels(): Promise<readonly [SeededCampaign, SeededCampaign]> {
  const [one, other] = [
    await seedCampaign(test.pool, { recipients: 5 }),
    await seedCampaign(test.pool, { recipients: 5 }),
  ];
  const second = randomUUID();
  await test.pool.query(sql.type(nothing)`
    INSERT INTO channel (id, workspace_id, business_account_id, phone_number_id, display_phone_number, access_token_encrypted,
      messages_per_second)
    SELECT ${second}, workspace_id, business_account_id, ${second}, display_phone_number, access_token_encrypted, 80
    FROM channel WHERE id = ${one.channelId}`);
  await test.pool.query(sql.type(nothing)`
    UPDATE campaign SET workspace_id = ${one.workspaceId}, channel_id = ${second}, template_id = ${one.templateId}
    WHERE id = ${other.campaignId}`);
  return [one, { ...other, channelId: second }];
}

it('a problem with the payment pauses the campaigns of every channel of the account', async () => {
  const [one, other] = await twoChannels();
  const foreign = await seedCampaign(test.pool, { recipients: 5 });
  await runSendStep(dependenciesWith(createFakeProvider(refuse(131042))), one.campaignId, calm);
  const stateOf = async ({ campaignId }: SeededCampaign) =>
    (await getCampaignSnapshot(test.pool, campaignId)).status;
  expect(await Promise.all([one, other, foreign].map(stateOf))).toEqual(['PAUSED', 'PAUSED', 'RUNNING']);
});

it('a problem with the payment that belongs to no message pauses every channel of the account', async () => {
  const [one, other] = await twoChannels();
  const channel = await findChannel(one.channelId);
  const item = {
    ...accountItem,
    phoneNumberId: channel.phoneNumberId,
    errors: [{ code: 131042, title: '', details: null }],
  };
  await test.pool.transaction((transaction) =>
    applyAccountNotification(dependenciesWith(createFakeProvider()), transaction, { item, channel }),
  );
  for (const { campaignId } of [one, other])
    expect(await getCampaignSnapshot(test.pool, campaignId)).toMatchObject({
      status: 'PAUSED',
      pauseReason: 'CHANNEL_BLOCKED',
    });
});

it('a refusal of the channels of an account and one of a template wait for each other in one order', async () => {
  const locks = await connectLockHolder(test.ownerUrl);
  const [one, other] = await twoChannels();
  // The campaign with the larger id is on the channel with the smaller one.
  const [small, large] = [one.campaignId, other.campaignId].toSorted();
  const [former, latter] = [one.channelId, other.channelId].toSorted();
  for (const [campaignId, channelId] of [
    [small, latter],
    [large, former],
  ] as const)
    await test.pool.query(sql.type(nothing)`
      UPDATE campaign SET channel_id = ${channelId ?? ''} WHERE id = ${campaignId ?? ''}`);
  const deps = dependenciesWith(createFakeProvider());
  await locks.hold('SELECT FROM campaign WHERE id = $1 FOR UPDATE', [large]);
  const refusal = { channelId: one.channelId, code: 131042, cause: 'payment' } as const;
  const refused = test.pool.transaction((transaction) => pauseRefusedChannels(deps, transaction, [refusal]));
  await locks.untilWaiting(1, refused);
  const vanished = test.pool.transaction((transaction) =>
    pauseCampaignsOfTemplate(deps, transaction, one.templateId),
  );
  await locks.untilWaiting(2, vanished);
  await locks.release();
  expect((await Promise.all([refused, vanished])).flat().toSorted()).toEqual([small, large]);
  await locks.end();
});

describe('people who stopped marketing messages, by the answer to their message', () => {
  /** 72 recipients with contacts; the provider refuses each of them with 131050. */
  async function refused(afterRecording: (seeded: SeededCampaign) => Promise<void>) {
    const seeded = await seedCampaign(test.pool, { recipients: 72 });
    await test.pool.query(sql.type(nothing)`
      INSERT INTO contact (workspace_id, phone_number, source)
      SELECT ${seeded.workspaceId}, phone_number, 'test' FROM recipient WHERE campaign_id = ${seeded.campaignId}`);
    await test.pool.query(sql.type(nothing)`
      UPDATE recipient SET contact_id = contact.id FROM contact
      WHERE campaign_id = ${seeded.campaignId} AND contact.workspace_id = ${seeded.workspaceId}
        AND contact.phone_number = recipient.phone_number`);
    await runSendStep(dependenciesWith(createFakeProvider(refuse(131050))), seeded.campaignId, calm);
    await afterRecording(seeded);
    return seeded;
  }
  const count = (query: ReturnType<typeof sql.fragment>) =>
    test.pool.oneFirst(sql.type(row(t.type({ count: t.number })))`${query}`);

  it('are opted out with the outcome, and their contacts by the loop', async () => {
    const { workspaceId } = await refused(async ({ workspaceId: id }) => {
      // Nothing but the recorded outcomes: a process that dies now loses no opt-out.
      expect(
        await count(
          sql.fragment`SELECT count(*)::int AS count FROM waiting_opt_out WHERE workspace_id = ${id}`,
        ),
      ).toBe(72);
    });
    const dependencies = { database: test.pool, now: () => new Date() };
    expect(await applyWaitingOptOuts(dependencies)).toBe(72);
    expect(await applyWaitingOptOuts(dependencies)).toBe(0);
    const unsubscribed = sql.fragment`
      SELECT count(*)::int AS count FROM contact WHERE workspace_id = ${workspaceId} AND NOT subscribed`;
    expect(await count(unsubscribed)).toBe(72);
    const consents = sql.fragment`
      SELECT count(*)::int AS count FROM contact_consent WHERE workspace_id = ${workspaceId} AND source = 'person'`;
    expect(await count(consents)).toBe(72);
  });

  it('are not overruled by the time of applying when they opt in again', async () => {
    const { workspaceId } = await refused(async () => undefined);
    await sleep(20);
    await test.pool.query(sql.type(nothing)`
      UPDATE contact SET subscribed = true, consent_at = now() WHERE workspace_id = ${workspaceId}`);
    await applyWaitingOptOuts({ database: test.pool, now: () => new Date() });
    const subscribed = sql.fragment`
      SELECT count(*)::int AS count FROM contact WHERE workspace_id = ${workspaceId} AND subscribed`;
    expect(await count(subscribed)).toBe(72);
  });

  it('are opted out without a contact, too', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 3 });
    await runSendStep(dependenciesWith(createFakeProvider(refuse(131050))), seeded.campaignId, calm);
    const kept = sql.fragment`
      SELECT count(*)::int AS count FROM opted_out_number WHERE workspace_id = ${seeded.workspaceId}`;
    expect(await count(kept)).toBe(3);
  });
});

describe('a rejection from before a repair', () => {
  it('does not pause a campaign again that was repaired and started since', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 1, messagesPerSecond: 20 });
    const provider = createFakeProvider(async (message, count) => {
      await test.pool.query(sql.type(nothing)`
        UPDATE campaign SET epoch = epoch + 2 WHERE id = ${seeded.campaignId}`);
      return refuse(132015)(message, count);
    });
    await runSendStep(dependenciesWith(provider), seeded.campaignId, calm);
    expect(provider.received).toHaveLength(1);
    expect((await getCampaignSnapshot(test.pool, seeded.campaignId)).status).toBe('RUNNING');
  });
});

describe('a rejection of the channel', () => {
  it.each([
    ['an HTTP error outside the protocol', { code: 404, httpStatus: 404 }],
    ['a redirect', { code: 302, httpStatus: 302 }],
    ['a subcode', { code: 100, subcode: 33, httpStatus: 400 }],
  ])('that is known by %s pauses its campaigns', async (_, error) => {
    const seeded = await seedCampaign(test.pool, { recipients: 2 });
    const rejected = { kind: 'rejected', message: '', details: null, isTransient: false, ...error } as const;
    await runSendStep(dependenciesWith(createFakeProvider(() => rejected)), seeded.campaignId, calm);
    expect(await getCampaignSnapshot(test.pool, seeded.campaignId)).toMatchObject({
      status: 'PAUSED',
      pauseReason: 'CHANNEL_BLOCKED',
      counts: { pending: 2, claimed: 0 },
    });
  });
});

describe('pauseForBalance', () => {
  it('does not pause after a recharge that came in between', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 2, balance: messagePrice });
    const context = await getSendingContext(test.pool, seeded.campaignId);
    const dependencies = dependenciesWith(createFakeProvider());
    await pauseForBalance(dependencies, context, messagePrice - 1n);
    expect((await getCampaignSnapshot(test.pool, seeded.campaignId)).status).toBe('RUNNING');
    await pauseForBalance(dependencies, context, messagePrice);
    expect(await getCampaignSnapshot(test.pool, seeded.campaignId)).toMatchObject({
      status: 'PAUSED',
      pauseReason: 'INSUFFICIENT_BALANCE',
    });
  });
});
