import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rechargeWallet } from '../../../src/commands/wallet/change-wallet.ts';
import { giveBackMessages, giveBackRecipients } from '../../../src/commands/wallet/give-back.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { listBookDifferences } from '../../../src/records/operations/books.ts';
import { claimBatch } from '../../../src/records/sending/claim-batch.ts';
import { type MessageOutcome, recordOutcomes } from '../../../src/records/sending/outcomes.ts';
import { createApplier, deliver, messagesCallback, rowsOf, status } from '../../support/callback-fixtures.ts';
import {
  anyTokens,
  messagePrice,
  seedCampaign,
  type SeededCampaign,
} from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { readStatement } from '../../../src/records/wallet/statement.ts';
import { beginDeletingRecipients, deleteRecipients } from '../../../src/records/operations/retention.ts';
import { saveAccountTerms } from '../../../src/records/workspaces/business-accounts.ts';
import { outcomesOf } from '../../support/outcomes.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const run = (statement: ReturnType<typeof sql.fragment>) =>
  database.owner.query(sql.type(nothing)`${statement}`);

/** A campaign that has begun, with the time to live of its category. */
async function begun(recipients: number, balance = 1_000_000n): Promise<SeededCampaign> {
  const seeded = await seedCampaign(database.pool, { recipients, balance, status: 'DRAFT' });
  await run(sql.fragment`UPDATE campaign SET status = 'RUNNING' WHERE id = ${seeded.campaignId}`);
  return seeded;
}

/** Claims the next recipients and records what the provider answered to each. */
async function send(seeded: SeededCampaign, limit: number, outcome: (position: number) => MessageOutcome) {
  const claimId = randomUUID();
  const claim = await claimBatch(database.pool, {
    ...anyTokens,
    ...seeded,
    claimId,
    epoch: 0,
    limit,
    prices: new Map([['', messagePrice]]),
  });
  if (claim.kind !== 'batch') return;
  const outcomes = new Map(claim.recipients.map(({ position }) => [position, outcome(position)]));
  await recordOutcomes(database.pool, { ...seeded, outcomes: outcomesOf(claimId, outcomes) });
}

const accept = (position: number): MessageOutcome => ({
  kind: 'accepted',
  providerMessageId: `wamid.${position}`,
});

interface Line {
  readonly id: string;
  readonly state: string;
  readonly settlement: string;
  readonly price: number;
}

const recipientsOf = ({ campaignId }: SeededCampaign) =>
  rowsOf<Line>(
    database.pool,
    sql.fragment`SELECT id, state, settlement, price FROM recipient WHERE campaign_id = ${campaignId} ORDER BY position`,
  );

async function report(seeded: SeededCampaign, position: number, name: string, pricing?: object) {
  const recipient = (await recipientsOf(seeded))[position - 1];
  const spec = { status: name, providerMessageId: `wamid.${position}`, callbackData: recipient?.id ?? '' };
  await deliver(createApplier(database.pool), [
    messagesCallback(seeded.channelId, {
      statuses: [status({ ...spec, ...(pricing !== undefined && { pricing: { ...pricing } }) })],
    }),
  ]);
}

/** Moves everything that was sent so far behind the end of its time to live. */
async function age({ campaignId }: SeededCampaign): Promise<void> {
  await run(sql.fragment`
    UPDATE recipient SET accepted_at = accepted_at - interval '40 days', sent_at = sent_at - interval '40 days',
      updated_at = updated_at - interval '40 days' WHERE campaign_id = ${campaignId}`);
  await run(sql.fragment`UPDATE campaign_expiry SET due_at = now() WHERE campaign_id = ${campaignId}`);
}

const walletOf = async ({ channelId }: SeededCampaign) =>
  (
    await rowsOf<{ balance: number; reserved: number; uncollected: number }>(
      database.pool,
      sql.fragment`SELECT balance, reserved, uncollected FROM wallet WHERE channel_id = ${channelId}`,
    )
  )[0];

const ledgerOf = ({ channelId }: SeededCampaign) =>
  rowsOf<{ id: number; kind: string; amount: number; reason: string | null }>(
    database.pool,
    sql.fragment`SELECT id, kind, amount, reason FROM ledger_entry WHERE channel_id = ${channelId} ORDER BY id`,
  );

/** In steps of `limit` positions, as if the process ended after each. */
async function giveAllBack(limit: number): Promise<void> {
  for (let steps = 0; steps < 50; steps += 1) if (!(await giveBackRecipients(database.pool, limit))) return;
  throw new Error('The loop does not end');
}

it('gives back what was not delivered in time, once, and charges it again when it arrives', async () => {
  const seeded = await begun(10);
  await send(seeded, 10, accept);
  for (const position of [1, 2, 4, 5, 6, 8]) await report(seeded, position, 'delivered');
  await report(seeded, 3, 'sent');
  await run(sql.fragment`UPDATE campaign_expiry SET due_at = now() WHERE campaign_id = ${seeded.campaignId}`);
  await giveAllBack(4);
  expect((await walletOf(seeded))?.balance).toBe(990_000);
  await age(seeded);
  await giveBackRecipients(database.pool, 4);
  await run(sql.fragment`UPDATE campaign SET status = 'COMPLETED' WHERE id = ${seeded.campaignId}`);
  await giveAllBack(4);
  await giveAllBack(4);
  expect(await walletOf(seeded)).toEqual({ balance: 994_000, reserved: 0, uncollected: 0 });
  expect((await ledgerOf(seeded)).filter(({ kind }) => kind === 'refund')).toMatchObject([
    { amount: 1_000, reason: 'EXPIRED' },
    { amount: 3_000, reason: 'EXPIRED' },
  ]);
  expect((await recipientsOf(seeded))[2]).toMatchObject({ state: 'SENT', settlement: 'refunded' });
  const left = sql.fragment`SELECT FROM campaign_expiry WHERE campaign_id = ${seeded.campaignId}`;
  expect(await rowsOf(database.pool, left)).toEqual([]);

  await report(seeded, 7, 'sent');
  expect((await walletOf(seeded))?.balance).toBe(994_000);
  await report(seeded, 7, 'delivered');
  await report(seeded, 7, 'read');
  expect((await walletOf(seeded))?.balance).toBe(993_000);
  const month = `${new Date().toISOString().slice(0, 7)}-01`;
  const ofMessages = { category: 'UTILITY', market: null, country: 'DE' };
  expect(await readStatement(database.pool, seeded.channelId, month)).toEqual({
    timeZone: 'UTC',
    opening: 0n,
    closing: 993_000n,
    lines: [
      { kind: 'recharge', category: null, market: null, country: null, amount: 1_000_000n },
      { kind: 'charge', ...ofMessages, amount: -11_000n },
      { kind: 'refund', ...ofMessages, amount: 4_000n },
    ],
  });
  expect(await listBookDifferences(database.pool)).toEqual([]);
});

it('leaves a campaign alone that may still send, and looks at what it sends later', async () => {
  const seeded = await begun(3);
  await send(seeded, 1, accept);
  await age(seeded);
  await giveAllBack(100);
  await send(seeded, 2, (position) =>
    position === 2 ? accept(position) : { kind: 'unknown', detail: 'no answer' },
  );
  await age(seeded);
  await giveAllBack(100);
  expect(await walletOf(seeded)).toEqual({ balance: 1_000_000, reserved: 0, uncollected: 0 });
  expect((await recipientsOf(seeded)).map(({ state, settlement }) => [state, settlement])).toEqual([
    ['ACCEPTED', 'refunded'],
    ['ACCEPTED', 'refunded'],
    ['UNKNOWN', 'none'],
  ]);
});

it('keeps what a wallet cannot pay for, and takes it first from the next recharge', async () => {
  const seeded = await begun(2, 2_000n);
  await send(seeded, 2, accept);
  await age(seeded);
  await giveAllBack(100);
  // The money that came back is spent elsewhere.
  await run(sql.fragment`
    WITH spent AS (UPDATE wallet SET balance = 500 WHERE channel_id = ${seeded.channelId} RETURNING channel_id, workspace_id)
    INSERT INTO ledger_entry (channel_id, workspace_id, kind, amount) SELECT channel_id, workspace_id, 'adjustment', -1500 FROM spent`);
  await report(seeded, 1, 'delivered');
  await report(seeded, 2, 'delivered');
  expect(await walletOf(seeded)).toEqual({ balance: 0, reserved: 0, uncollected: 1_500 });
  const recharge = (amount: string) => rechargeWallet({ database: database.pool }, { ...seeded, amount });
  expect(await recharge('0.0012')).toBe(0n);
  expect((await walletOf(seeded))?.uncollected).toBe(300);
  expect(await recharge('0.001')).toBe(700n);
  expect(await walletOf(seeded)).toEqual({ balance: 700, reserved: 0, uncollected: 0 });
  expect(await listBookDifferences(database.pool)).toEqual([]);
  const counted = sql.fragment`SELECT charged, (SELECT sum(charged) FROM campaign_minute
    WHERE campaign_id = ${seeded.campaignId}) AS minutes FROM campaign_counter WHERE campaign_id = ${seeded.campaignId}`;
  expect(await rowsOf(database.pool, counted)).toEqual([{ charged: 2_000, minutes: 2_000 }]);
});

it('gives back messages outside campaigns that were not delivered in time, and test messages apart from their campaign', async () => {
  const { workspaceId, channelId, campaignId } = await begun(1, 3_000n);
  const add = (state: string, settlement: string, expires: string) =>
    run(sql.fragment`
      WITH moved AS (
        UPDATE wallet SET balance = balance - CASE ${settlement} WHEN 'charged' THEN 1000 ELSE 0 END,
          reserved = reserved + CASE ${settlement} WHEN 'reserved' THEN 1000 ELSE 0 END WHERE channel_id = ${channelId}
      ), entry AS (
        INSERT INTO ledger_entry (channel_id, workspace_id, kind, amount)
        SELECT ${channelId}, ${workspaceId}, 'charge', -1000 WHERE ${settlement} = 'charged'
      )
      INSERT INTO message (workspace_id, channel_id, direction, source, campaign_id, phone_number, state, settlement, price, expires_at)
      VALUES (${workspaceId}, ${channelId}, 'outbound', 'api', ${campaignId}, '4915100000001', ${state}, ${settlement}, 1000,
        now() + ${expires}::interval)`);
  await add('SENT', 'charged', '-1 minute');
  await add('UNKNOWN', 'reserved', '-1 minute');
  await add('SENT', 'charged', '1 hour');
  while (await giveBackMessages(database.pool, 1));
  expect(await walletOf({ channelId } as SeededCampaign)).toEqual({
    balance: 2_000,
    reserved: 0,
    uncollected: 0,
  });
  const ofCampaign = sql.fragment`SELECT FROM ledger_entry WHERE campaign_id = ${campaignId}`;
  expect(await rowsOf(database.pool, ofCampaign)).toEqual([]);
  expect(await listBookDifferences(database.pool)).toEqual([]);
});

it('keeps the category of the booking in the statement when the template moves to another', async () => {
  const seeded = await begun(3);
  await send(seeded, 2, accept);
  await run(sql.fragment`UPDATE template SET category = 'MARKETING' WHERE id = ${seeded.templateId}`);
  await send(seeded, 1, accept);
  await report(seeded, 1, 'failed');
  const month = `${new Date().toISOString().slice(0, 7)}-01`;
  const { lines } = await readStatement(database.pool, seeded.channelId, month);
  expect(lines.map(({ kind, category, amount }) => [kind, category, amount])).toEqual([
    ['recharge', null, 1_000_000n],
    ['charge', 'MARKETING', -1_000n],
    ['charge', 'UTILITY', -2_000n],
    ['refund', 'MARKETING', 1_000n],
  ]);
});

const size = 4;
const position = fc.integer({ min: 1, max: size });
const pricing = fc.constantFrom(
  undefined,
  { type: 'regular', category: 'utility' },
  { type: 'regular', category: 'marketing' },
  { type: 'free_entry_point', category: 'utility' },
  { billable: true, category: 'utility' },
);
const steps = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('send' as const), accepted: fc.boolean() }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('status' as const),
      position,
      name: fc.constantFrom('sent', 'delivered', 'read', 'failed'),
      pricing,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('expire' as const), limit: position }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('recharge' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('price' as const), price: fc.integer({ min: 1, max: 3_000 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('currency' as const), currency: fc.constantFrom('EUR', 'INR') }),
  },
);

/** Everything that must outlive the recipients. */
const sumsOf = ({ channelId, campaignId }: SeededCampaign) =>
  rowsOf(
    database.pool,
    sql.fragment`SELECT balance, uncollected, currency, campaign_counter.charged,
      (SELECT jsonb_agg(entry ORDER BY id) FROM ledger_entry AS entry WHERE entry.channel_id = wallet.channel_id) AS entries,
      (SELECT jsonb_agg(line ORDER BY day, category, country, is_free) FROM delivery_day AS line
        WHERE line.channel_id = wallet.channel_id) AS delivered
      FROM wallet JOIN campaign_counter ON campaign_id = ${campaignId} WHERE wallet.channel_id = ${channelId}`,
  );

/** What must be true after every step. */
async function expectExact(seeded: SeededCampaign, before: Awaited<ReturnType<typeof ledgerOf>>) {
  expect(await listBookDifferences(database.pool)).toEqual([]);
  const ledger = await ledgerOf(seeded);
  expect(ledger.slice(0, before.length)).toEqual(before);
  const sums = await rowsOf<Readonly<Record<'counted' | 'minutes' | 'entries' | 'paid', number>>>(
    database.pool,
    sql.fragment`SELECT charged AS counted,
      (SELECT coalesce(sum(minute.charged), 0) FROM campaign_minute AS minute WHERE campaign_id = ${seeded.campaignId})::bigint AS minutes,
      -(SELECT coalesce(sum(amount), 0) FROM ledger_entry WHERE ledger_entry.campaign_id = ${seeded.campaignId})::bigint AS entries,
      (SELECT coalesce(sum(price - coalesce(uncollected.amount, 0)), 0) FROM recipient
        LEFT JOIN uncollected ON message_id = recipient.id
        WHERE recipient.campaign_id = ${seeded.campaignId} AND settlement = 'charged')::bigint AS paid
      FROM campaign_counter WHERE campaign_id = ${seeded.campaignId}`,
  );
  expect(new Set(Object.values(sums[0] ?? {})).size).toBe(1);
  for (const { state, settlement } of await recipientsOf(seeded)) {
    if (state === 'FAILED' || state === 'PENDING') expect(settlement).not.toBe('charged');
    if (state === 'DELIVERED' || state === 'READ') expect(settlement).not.toBe('reserved');
  }
  return ledger;
}

async function reportCurrency({ channelId }: SeededCampaign, currency: string): Promise<void> {
  const [account] = await rowsOf<{ id: string }>(
    database.pool,
    sql.fragment`SELECT business_account_id AS id FROM channel WHERE id = ${channelId}`,
  );
  await saveAccountTerms(database.pool, account?.id ?? '', { currency, timeZone: null });
}

it('keeps wallet, ledger, counters and messages equal through any order of events, in one currency, also when the recipients are deleted', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 12, maxLength: 18 }), async (drawn) => {
      const seeded = await begun(size, 2_500n);
      let ledger = await ledgerOf(seeded);
      for (const step of drawn) {
        if (step.do === 'send')
          await send(seeded, 2, (at) =>
            step.accepted ? accept(at) : { kind: 'unknown', detail: 'no answer' },
          );
        if (step.do === 'status') await report(seeded, step.position, step.name, step.pricing);
        if (step.do === 'expire') {
          await age(seeded);
          await giveBackRecipients(database.pool, step.limit);
        }
        if (step.do === 'recharge')
          await rechargeWallet({ database: database.pool }, { ...seeded, amount: '0.0015' });
        if (step.do === 'price')
          await run(
            sql.fragment`UPDATE rate_card SET price = ${step.price} WHERE workspace_id = ${seeded.workspaceId}`,
          );
        if (step.do === 'currency') await reportCurrency(seeded, step.currency);
        ledger = await expectExact(seeded, ledger);
      }
      const before = await sumsOf(seeded);
      expect(before).toMatchObject([{ currency: 'USD' }]);
      await beginDeletingRecipients(database.pool, seeded.campaignId);
      await deleteRecipients(database.pool, { campaignId: seeded.campaignId, after: 0, limit: size });
      expect(await sumsOf(seeded)).toEqual(before);
      expect(await listBookDifferences(database.pool)).toEqual([]);
    }),
    { numRuns: 3 },
  );
});
