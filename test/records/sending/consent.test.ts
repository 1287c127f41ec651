/** Contacts that opted out or were deleted between preparation and claim. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as t from 'io-ts';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pauseCampaign } from '../../../src/commands/campaigns/change-campaign.ts';
import { noteOptOut } from '../../../src/records/callbacks/sender-contacts.ts';
import { claimBatch, type Claim } from '../../../src/records/sending/claim-batch.ts';
import { getCampaignReport } from '../../../src/records/campaigns/report.ts';
import { decideConsent } from '../../../src/records/contacts/consents.ts';
import { nothing, row } from '../../../src/records/database/row.ts';
import {
  anyTokens,
  checkBooks,
  messagePrice,
  seedCampaign,
  type SeededCampaign,
} from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { connectLockHolder, type LockHolder } from '../../support/lock-holder.ts';
import { sendingDependencies } from '../../support/sending-dependencies.ts';

let test: TestDatabase;
let locks: LockHolder;
beforeAll(async () => {
  test = await createTestDatabase();
  locks = await connectLockHolder(test.ownerUrl);
});
afterAll(async () => {
  await locks.end();
  await test.drop();
});

async function seedWithContacts(recipients: number, balance?: bigint): Promise<SeededCampaign> {
  const seeded = await seedCampaign(test.pool, { recipients, ...(balance !== undefined && { balance }) });
  await test.pool.query(sql.type(nothing)`
    WITH person AS (
      INSERT INTO contact (workspace_id, phone_number, country_code, country, source)
      SELECT ${seeded.workspaceId}, phone_number, '49', 'DE', 'csv_import' FROM recipient
      WHERE campaign_id = ${seeded.campaignId} RETURNING id, phone_number)
    UPDATE recipient SET contact_id = person.id FROM person
    WHERE campaign_id = ${seeded.campaignId} AND recipient.phone_number = person.phone_number`);
  return seeded;
}

const change = ({ campaignId }: SeededCampaign, position: number, set: ReturnType<typeof sql.fragment>) =>
  test.pool.query(sql.type(nothing)`
    UPDATE contact SET ${set} FROM recipient
    WHERE recipient.campaign_id = ${campaignId} AND recipient.position = ${position} AND contact.id = contact_id`);

const claim = (seeded: SeededCampaign, limit: number, limited = false, isMarketing = true) =>
  claimBatch(test.pool, {
    ...anyTokens,
    ...seeded,
    claimId: randomUUID(),
    epoch: 0,
    limit,
    limited,
    isMarketing,
    prices: new Map([['', messagePrice]]),
  });

/** Another campaign that has sent to the first recipients of this one. */
async function sentBefore(
  seeded: SeededCampaign,
  states: readonly string[],
  { status = 'COMPLETED', endedDaysAgo = 0 } = {},
) {
  const campaignId = randomUUID();
  await test.pool.query(sql.type(nothing)`
    INSERT INTO campaign (id, workspace_id, channel_id, template_id, name, contact_selection_type, audience, send_type, status,
      preparation_status, created_by, started_at, completed_at, updated_at)
    VALUES (${campaignId}, ${seeded.workspaceId}, ${seeded.channelId}, ${seeded.templateId}, 'Before', 'quick_contacts', '{}',
      'IMMEDIATE', ${status}, 'READY', 'key', now(),
      CASE WHEN ${status} = 'COMPLETED' THEN now() - make_interval(days => ${endedDaysAgo}::int) END,
      now() - make_interval(days => ${endedDaysAgo}::int))`);
  await test.pool.query(sql.type(nothing)`
    INSERT INTO recipient (campaign_id, position, contact_id, phone_number, sendable, state, accepted_at)
    SELECT ${campaignId}::uuid, recipient.position, contact_id, phone_number, true, given.state, now() - interval '1 day'
    FROM recipient JOIN unnest(${sql.array(states, 'text')}) WITH ORDINALITY AS given (state, position)
      ON given.position = recipient.position
    WHERE campaign_id = ${seeded.campaignId}`);
}

async function anotherChannel({ channelId: present }: SeededCampaign): Promise<string> {
  const channelId = randomUUID();
  await test.pool.query(sql.type(nothing)`
    INSERT INTO channel (id, workspace_id, business_account_id, phone_number_id, display_phone_number, access_token_encrypted)
    SELECT ${channelId}::uuid, workspace_id, business_account_id, ${channelId}, display_phone_number, access_token_encrypted
    FROM channel WHERE id = ${present}`);
  await test.pool.query(sql.type(nothing)`INSERT INTO channel_rate (channel_id) VALUES (${channelId})`);
  await test.pool.query(sql.type(nothing)`
    INSERT INTO wallet (channel_id, workspace_id, balance)
    SELECT id, workspace_id, 1000000 FROM channel WHERE id = ${channelId}`);
  return channelId;
}

const positionsOf = (claimed: Claim): readonly number[] =>
  claimed.kind === 'batch' ? claimed.recipients.map(({ position }) => position) : [];

describe('consent at the claim', () => {
  it('skips contacts that unsubscribed or were deleted since the preparation, and reserves nothing for them', async () => {
    const seeded = await seedWithContacts(6);
    await change(seeded, 2, sql.fragment`subscribed = false`);
    await change(seeded, 3, sql.fragment`deleted_at = now()`);
    await change(seeded, 4, sql.fragment`subscribed = false`);
    await change(seeded, 4, sql.fragment`subscribed = true`);
    const claimed = await claim(seeded, 6);
    expect(claimed.kind === 'batch' && claimed.recipients.map(({ position }) => position)).toEqual([
      1, 4, 5, 6,
    ]);
    expect(await getCampaignReport(test.pool, seeded.workspaceId, seeded.campaignId)).toMatchObject({
      total_contacts: 4,
      total_contacts_skipped: 2,
      skipped: 2,
      skipped_reasons: { UNSUBSCRIBED: 1, CONTACT_DELETED: 1 },
    });
    expect(await checkBooks(test.pool, seeded)).toMatchObject({
      counters_fit: true,
      reserved: messagePrice * 4n,
      owed: messagePrice * 4n,
    });
    expect(await claim(seeded, 6)).toMatchObject({ kind: 'empty', waitMs: null });
  });

  it('skips MARKETING for people who stopped that alone, and everything for those who stopped everything', async () => {
    for (const isMarketing of [true, false]) {
      const seeded = await seedWithContacts(4);
      const contacts = await test.pool.anyFirst(sql.type(row(t.type({ id: t.string })))`
        SELECT contact_id AS id FROM recipient WHERE campaign_id = ${seeded.campaignId} ORDER BY position`);
      for (const [at, category] of [
        [1, 'ALL'],
        [2, 'MARKETING'],
      ] as const)
        await decideConsent(test.pool, seeded.workspaceId, {
          contactIds: contacts.slice(at, at + 1),
          decision: { category, allows: false },
          at: new Date(),
          source: 'person',
        });
      await noteOptOut(test.pool, seeded.workspaceId, {
        person: { phoneNumber: '4915100000004', waId: null, providerUserId: null },
        category: 'MARKETING',
        at: new Date(),
      });
      expect(positionsOf(await claim(seeded, 4, false, isMarketing))).toEqual(isMarketing ? [1] : [1, 3, 4]);
    }
  });

  it('sends to a contact who was opted in again after a worker noted an opt-out that another had applied', async () => {
    const seeded = await seedWithContacts(1);
    await change(seeded, 1, sql.fragment`subscribed = false`);
    await noteOptOut(test.pool, seeded.workspaceId, {
      person: { phoneNumber: '4915100000001', waId: '4915100000001', providerUserId: null },
      category: 'ALL',
      at: new Date(),
    });
    await change(seeded, 1, sql.fragment`subscribed = true`);
    expect(await claim(seeded, 1)).toMatchObject({ kind: 'batch' });
  });

  it('skips a recipient who opted out under a former form of the number, as another contact', async () => {
    const seeded = await seedWithContacts(4);
    const numbers = ['523312345601', '5511987654321', '5491123456789'];
    for (const [at, number] of numbers.entries()) {
      await change(seeded, at + 1, sql.fragment`phone_number = ${number}`);
      await test.pool.query(sql.type(nothing)`
        UPDATE recipient SET phone_number = ${number}
        WHERE campaign_id = ${seeded.campaignId} AND position = ${at + 1}`);
    }
    await test.pool.query(sql.type(nothing)`
      INSERT INTO contact (workspace_id, phone_number, source, subscribed) VALUES
        (${seeded.workspaceId}, '5213312345601', 'incoming', false), (${seeded.workspaceId}, '551187654321', 'incoming', true),
        (${seeded.workspaceId}, '541123456789', 'incoming', false)`);
    expect(positionsOf(await claim(seeded, 4))).toEqual([2, 4]);
  });

  it('skips a recipient whose opt-out waits for another contact, under a former form of the number', async () => {
    for (const isMarketing of [true, false]) {
      const seeded = await seedWithContacts(3);
      const [number, former] = ['523312345611', '5213312345611'];
      await change(seeded, 1, sql.fragment`phone_number = ${number}`);
      await test.pool.query(sql.type(nothing)`
        UPDATE recipient SET phone_number = ${number} WHERE campaign_id = ${seeded.campaignId} AND position = 1`);
      await test.pool.query(sql.type(nothing)`
        WITH other AS (
          INSERT INTO contact (workspace_id, phone_number, source) VALUES (${seeded.workspaceId}, ${former}, 'incoming')
          RETURNING workspace_id, id)
        INSERT INTO waiting_opt_out (workspace_id, contact_id, marketing_only) SELECT workspace_id, id, true FROM other`);
      expect(positionsOf(await claim(seeded, 3, false, isMarketing))).toEqual(
        isMarketing ? [2, 3] : [1, 2, 3],
      );
    }
  });

  it('skips a recipient whose number belongs to somebody else now, who opted out', async () => {
    const seeded = await seedWithContacts(4);
    for (const position of [1, 2, 3])
      await change(seeded, position, sql.fragment`phone_number = ${`491519999999${position}`}`);
    await test.pool.query(sql.type(nothing)`
      INSERT INTO contact (workspace_id, phone_number, source, subscribed) VALUES
        (${seeded.workspaceId}, '4915100000001', 'incoming', false), (${seeded.workspaceId}, '4915100000002', 'incoming', true)`);
    expect(positionsOf(await claim(seeded, 4))).toEqual([2, 3, 4]);
    expect(await getCampaignReport(test.pool, seeded.workspaceId, seeded.campaignId)).toMatchObject({
      skipped_reasons: { UNSUBSCRIBED: 1 },
    });
  });

  it.each([false, true])(
    'counts opt-outs committed while the claim waited, limited account: %s',
    async (limited) => {
      const seeded = await seedWithContacts(3);
      if (limited)
        await test.pool.query(sql.type(nothing)`UPDATE business_account SET messaging_limit = 100`);
      await locks.hold('SELECT FROM wallet WHERE channel_id = $1 FOR UPDATE', [seeded.channelId]);
      const waiting = claim(seeded, 3, limited);
      await locks.untilWaiting(1, waiting);
      await change(seeded, 1, sql.fragment`subscribed = false`);
      await change(seeded, 2, sql.fragment`deleted_at = now()`);
      await sleep(700);
      await locks.release();
      expect([...positionsOf(await waiting), ...positionsOf(await claim(seeded, 3, limited))]).toEqual([3]);
      if (limited)
        await test.pool.query(sql.type(nothing)`UPDATE business_account SET messaging_limit = NULL`);
    },
  );

  it('continues behind a batch without remaining recipients, also where the balance ends', async () => {
    const seeded = await seedWithContacts(6, messagePrice);
    for (const position of [1, 2, 3, 5]) await change(seeded, position, sql.fragment`subscribed = false`);
    expect(await claim(seeded, 3)).toMatchObject({ kind: 'empty', waitMs: 0 });
    const claimed = await claim(seeded, 3);
    expect(claimed.kind === 'batch' && claimed.recipients.map(({ position }) => position)).toEqual([4]);
    expect(await claim(seeded, 3)).toMatchObject({ kind: 'unaffordable', available: 0n });
    expect((await checkBooks(test.pool, seeded)).counters_fit).toBe(true);
  });
});

describe('a claim', () => {
  it('reads a long tail of skipped recipients once', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 25_000 });
    await test.pool.query(sql.type(nothing)`
      UPDATE recipient SET state = 'SKIPPED', sendable = false WHERE campaign_id = ${seeded.campaignId} AND position > 5`);
    await test.pool.query(sql.type(nothing)`
      UPDATE campaign_counter SET pending = 5, skipped = 24995 WHERE campaign_id = ${seeded.campaignId}`);
    await test.pool.query(sql.type(nothing)`
      UPDATE campaign SET total_contacts = 5, total_contacts_skipped = 24995 WHERE id = ${seeded.campaignId}`);
    expect((await claim(seeded, 100)).kind).toBe('batch');
    let claims = 0;
    for (;;) {
      const claimed = await claim(seeded, 100);
      expect(claimed.kind).toBe('empty');
      if (claimed.kind === 'empty' && claimed.waitMs === null) break;
      claims += 1;
    }
    expect(claims).toBeLessThanOrEqual(2);
  });

  it('gives up after a second if another transaction keeps a lock', async () => {
    const seeded = await seedWithContacts(2);
    await locks.hold('SELECT FROM campaign_counter WHERE campaign_id = $1 FOR UPDATE', [seeded.campaignId]);
    expect(await claim(seeded, 2)).toMatchObject({ kind: 'locked' });
    expect(await claim(seeded, 2, true)).toMatchObject({ kind: 'locked' });
    await locks.release();
    expect(positionsOf(await claim(seeded, 2))).toEqual([1, 2]);
  }, 180_000);

  it('delays no pause', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 10 });
    const dependencies = sendingDependencies({ database: test.pool, provider: {} });
    await test.pool.transaction(async (transaction) => {
      const request = { ...seeded, claimId: randomUUID(), epoch: 0, limit: 5 };
      await claimBatch(transaction, { ...anyTokens, ...request, prices: new Map([['', messagePrice]]) });
      await pauseCampaign(dependencies, { campaignId: seeded.campaignId });
    });
    expect(await claim(seeded, 5)).toMatchObject({ kind: 'stale_epoch' });
  });
});

describe('the frequency cap at the claim', () => {
  const cap = { messages: 2, days: 7, categories: ['UTILITY'] } as const;
  const capped = (seeded: SeededCampaign, other: object = {}) =>
    claimBatch(test.pool, {
      ...anyTokens,
      ...seeded,
      claimId: randomUUID(),
      epoch: 0,
      limit: 10,
      cap: { workspaceId: seeded.workspaceId, ...cap, ...other },
      prices: new Map([['', messagePrice]]),
    });

  it('skips contacts that have got as many messages, and reserves nothing for them', async () => {
    const seeded = await seedWithContacts(5);
    await sentBefore(seeded, ['READ', 'UNKNOWN', 'FAILED', 'SENT', 'CANCELLED']);
    await sentBefore(seeded, ['SENT', 'CLAIMED', 'DELIVERED']);
    expect(positionsOf(await capped(seeded))).toEqual([3, 4, 5]);
    expect(await getCampaignReport(test.pool, seeded.workspaceId, seeded.campaignId)).toMatchObject({
      skipped: 2,
      skipped_reasons: { FREQUENCY_CAP: 2 },
    });
    expect(await checkBooks(test.pool, seeded)).toMatchObject({
      counters_fit: true,
      reserved: messagePrice * 3n,
      owed: messagePrice * 3n,
    });
  });

  it('counts single messages, and nothing of other categories or of before', async () => {
    const seeded = await seedWithContacts(3);
    await sentBefore(seeded, ['READ', 'READ'], { status: 'RUNNING', endedDaysAgo: 8 });
    for (const status of ['COMPLETED', 'CANCELLED', 'FAILED'])
      await sentBefore(seeded, ['READ', 'READ'], { status, endedDaysAgo: 8 });
    await test.pool.query(sql.type(nothing)`
      INSERT INTO message (workspace_id, channel_id, direction, source, contact_id, template_id, state)
      SELECT ${seeded.workspaceId}::int, ${seeded.channelId}::uuid, 'outbound', 'api', contact_id, ${seeded.templateId}::uuid, 'SENT'
      FROM recipient WHERE campaign_id = ${seeded.campaignId} AND position = 1`);
    const other = await seedWithContacts(1);
    await sentBefore(other, ['READ']);
    await sentBefore(other, ['READ']);
    expect(positionsOf(await capped(other, { categories: ['MARKETING'] }))).toEqual([1]);
    expect(positionsOf(await capped(seeded))).toEqual([2, 3]);
  });

  it.each(['the same channel', 'another channel'])(
    'counts what a claim at the same time takes for a campaign on %s',
    async (channel) => {
      const seeded = await seedWithContacts(2);
      const { campaignId } = await seedCampaign(test.pool, { recipients: 2 });
      const channelId = channel === 'the same channel' ? seeded.channelId : await anotherChannel(seeded);
      const other = { ...seeded, channelId, campaignId };
      await test.pool.query(sql.type(nothing)`
        UPDATE campaign SET workspace_id = ${seeded.workspaceId}, channel_id = ${channelId}, template_id = ${seeded.templateId}
        WHERE id = ${campaignId}`);
      await test.pool.query(sql.type(nothing)`
        UPDATE recipient SET contact_id = same.contact_id FROM recipient AS same
        WHERE recipient.campaign_id = ${campaignId} AND same.campaign_id = ${seeded.campaignId}
          AND same.position = recipient.position`);
      const drain = async (campaign: SeededCampaign): Promise<readonly number[]> => {
        const taken: number[] = [];
        for (;;) {
          const claimed = await capped(campaign, { messages: 1 });
          taken.push(...positionsOf(claimed));
          // Otherwise it may have waited too long for a lock.
          if (claimed.kind === 'empty') return taken;
        }
      };
      await locks.hold('SELECT FROM wallet WHERE channel_id = ANY ($1) FOR UPDATE', [
        [seeded.channelId, channelId],
      ]);
      const both = Promise.all([drain(seeded), drain(other)]);
      await locks.untilWaiting(2, both);
      await locks.release();
      expect((await both).flat().toSorted()).toEqual([1, 2]);
    },
  );
});
