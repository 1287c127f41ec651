import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expireClaims } from '../../../src/records/sending/claim-expiry.ts';
import { claimBatch, countOpenClaims, type Claim } from '../../../src/records/sending/claim-batch.ts';
import { recordOutcomes, type MessageOutcome } from '../../../src/records/sending/outcomes.ts';
import { outcomesOf } from '../../support/outcomes.ts';
import { nothing, nullable, row } from '../../../src/records/database/row.ts';
import { postLedgerEntry } from '../../../src/records/wallet/wallets.ts';
import {
  anyTokens,
  checkBooks,
  messagePrice,
  seedCampaign,
  type SeededCampaign,
} from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const prices = new Map([['', messagePrice]]);

function claim(
  seeded: SeededCampaign,
  limit: number,
  { claimId = randomUUID(), epoch = 0 } = {},
): Promise<Claim> {
  return claimBatch(test.pool, { ...anyTokens, claimId, ...seeded, epoch, limit, prices });
}

async function record(
  seeded: SeededCampaign,
  claimId: string,
  outcomes: ReadonlyMap<number, MessageOutcome>,
): Promise<void> {
  await recordOutcomes(test.pool, { ...seeded, outcomes: outcomesOf(claimId, outcomes) });
}

const Settled = row(
  t.type({ state: t.string, reason: nullable(t.string), provider_message_id: nullable(t.string) }),
);

const Read = row(t.type({ rows: t.number }));

const positions = (claimed: Claim): readonly number[] =>
  claimed.kind === 'batch' ? claimed.recipients.map(({ position }) => position) : [];

async function expectSoundBooks(seeded: SeededCampaign) {
  const books = await checkBooks(test.pool, seeded);
  expect(books.ledger).toBe(books.balance);
  expect(books.reserved).toBe(books.owed);
  expect(books.counters_fit).toBe(true);
  return books;
}

describe('claimBatch', () => {
  it('hands every recipient out once when claims run side by side', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 300 });
    const claims = await Promise.all(Array.from({ length: 6 }, () => claim(seeded, 50)));
    const all = claims.flatMap(positions);
    expect(new Set(all).size).toBe(300);
    expect(all).toHaveLength(300);
    expect(await claim(seeded, 50)).toMatchObject({ kind: 'empty', waitMs: null });
    await expectSoundBooks(seeded);
  });

  it('claims exactly as far as the money goes, then says so', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 20, balance: messagePrice * 7n + 999n });
    expect(positions(await claim(seeded, 50))).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(await claim(seeded, 50)).toMatchObject({ kind: 'unaffordable', available: messagePrice - 1n });
    const books = await expectSoundBooks(seeded);
    expect(books.reserved).toBe(messagePrice * 7n);
  });

  it('fails no concurrent claim while the wallet runs empty and is refilled, and recipients are retried', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 20_000, balance: messagePrice * 20n });
    const endsAt = Date.now() + 3_000;
    let claimed = 0;
    const isOver = () => Date.now() > endsAt && claimed > 100;
    const kinds: readonly MessageOutcome[] = [
      { kind: 'failed', reason: 'PROVIDER_131026', detail: 'Undeliverable' },
      { kind: 'released', delayMs: 0, attempted: true },
    ];
    const outcomeOf = (position: number): MessageOutcome =>
      kinds[position % 3] ?? { kind: 'accepted', providerMessageId: randomUUID() };
    const send = async (): Promise<void> => {
      for (let turn = 1; !isOver(); turn += 1) {
        const claimId = randomUUID();
        const all = positions(await claim(seeded, 1 + (turn % 40), { claimId }));
        claimed += all.length;
        await record(seeded, claimId, new Map(all.map((position) => [position, outcomeOf(position)])));
      }
    };
    const refill = async (): Promise<void> => {
      while (!isOver()) {
        await postLedgerEntry(test.pool, { channelId: seeded.channelId, kind: 'recharge', amount: 5_000n });
        await sleep(3);
      }
    };
    await Promise.all([send(), send(), send(), send(), refill(), refill()]);
    expect(claimed).toBeGreaterThan(100);
    expect((await expectSoundBooks(seeded)).reserved).toBe(0n);
  });

  it('reads its batch by the index, not the whole table', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 10_000 });
    await test.owner.query(sql.type(nothing)`ANALYZE recipient`);
    const read = await test.pool.transaction(async (transaction) => {
      const countRead = () =>
        transaction.oneFirst(sql.type(Read)`
          SELECT seq_tup_read::int AS rows FROM pg_stat_xact_user_tables WHERE relname = 'recipient'`);
      const before = await countRead();
      const request = { ...anyTokens, claimId: randomUUID(), ...seeded, epoch: 0, limit: 500, prices };
      expect(positions(await claimBatch(transaction, request))).toHaveLength(500);
      return (await countRead()) - before;
    });
    expect(read).toBe(0);
  });

  it('claims nothing under an epoch that has passed', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 5 });
    await test.pool.query(sql.type(nothing)`UPDATE campaign SET epoch = 1 WHERE id = ${seeded.campaignId}`);
    expect(await claim(seeded, 5)).toMatchObject({ kind: 'stale_epoch' });
    expect(positions(await claim(seeded, 5, { epoch: 1 }))).toHaveLength(5);
  });
});

describe('recordOutcomes', () => {
  it('settles each outcome, frees what was not sent and retries the released', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 4 });
    const claimId = randomUUID();
    await claim(seeded, 4, { claimId });
    await record(
      seeded,
      claimId,
      new Map<number, MessageOutcome>([
        [1, { kind: 'accepted', providerMessageId: 'wamid.1' }],
        [2, { kind: 'failed', reason: 'PROVIDER_131026', detail: 'not on the channel' }],
        [3, { kind: 'unknown', detail: 'timed out' }],
        [4, { kind: 'released', delayMs: 0, attempted: false }],
      ]),
    );
    const books = await expectSoundBooks(seeded);
    expect(books.balance).toBe(1_000_000_000n - messagePrice);
    expect(books.reserved).toBe(messagePrice);
    expect(await countOpenClaims(test.pool, seeded.channelId)).toBe(0);
    const again = await claim(seeded, 4);
    expect(again).toMatchObject({ kind: 'batch', recipients: [{ position: 4, attempts: 1 }] });
  });

  it('changes nothing when the same outcomes are recorded again', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 2 });
    const claimId = randomUUID();
    await claim(seeded, 2, { claimId });
    const outcomes = new Map<number, MessageOutcome>([
      [1, { kind: 'accepted', providerMessageId: 'wamid.a' }],
      [2, { kind: 'failed', reason: 'PROVIDER_100', detail: 'bad' }],
    ]);
    await record(seeded, claimId, outcomes);
    const once = await expectSoundBooks(seeded);
    await record(seeded, claimId, outcomes);
    expect(await expectSoundBooks(seeded)).toEqual(once);
  });

  it('keeps the state that a receipt set before the answer, and records the answer for the others', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 2 });
    const claimId = randomUUID();
    await claim(seeded, 2, { claimId });
    await test.pool.query(sql.type(nothing)`
      UPDATE recipient SET state = 'DELIVERED', settlement = 'none', price = 0
      WHERE campaign_id = ${seeded.campaignId} AND position = 1`);
    await test.pool.query(sql.type(nothing)`
      UPDATE campaign_counter SET claimed = 1, delivered = 1 WHERE campaign_id = ${seeded.campaignId}`);
    await test.pool.query(sql.type(nothing)`
      UPDATE wallet SET reserved = ${messagePrice} WHERE channel_id = ${seeded.channelId}`);
    await record(
      seeded,
      claimId,
      new Map<number, MessageOutcome>([
        [2, { kind: 'accepted', providerMessageId: 'wamid.open' }],
        [1, { kind: 'failed', reason: 'PROVIDER_131026', detail: 'too late' }],
      ]),
    );
    const books = await expectSoundBooks(seeded);
    expect(books.balance).toBe(1_000_000_000n - messagePrice);
    const rows = await test.pool.any(sql.type(Settled)`
      SELECT state, reason, provider_message_id FROM recipient
      WHERE campaign_id = ${seeded.campaignId} ORDER BY position`);
    expect(rows).toEqual([
      { state: 'DELIVERED', reason: null, provider_message_id: null },
      { state: 'ACCEPTED', reason: null, provider_message_id: 'wamid.open' },
    ]);
  });

  it('leaves a recipient alone that was claimed again after its release was recorded', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 1 });
    const claimId = randomUUID();
    await claim(seeded, 1, { claimId });
    const released = new Map([[1, { kind: 'released', delayMs: 0, attempted: false } as const]]);
    await record(seeded, claimId, released);
    expect(positions(await claim(seeded, 1))).toEqual([1]);
    // Repeats the write, like a step that lost the answer to its first one.
    await record(seeded, claimId, released);
    expect((await claim(seeded, 1)).kind).toBe('empty');
    expect((await expectSoundBooks(seeded)).reserved).toBe(messagePrice);
  });

  it('closes a claim with its last outcome and no earlier', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 3 });
    const claimId = randomUUID();
    await claim(seeded, 3, { claimId });
    const accepted = (position: number) =>
      record(
        seeded,
        claimId,
        new Map([[position, { kind: 'accepted', providerMessageId: `wamid.${position}` }]]),
      );
    for (const position of [1, 2, 2]) {
      await accepted(position);
      expect(await countOpenClaims(test.pool, seeded.channelId)).toBe(1);
    }
    await accepted(3);
    expect(await countOpenClaims(test.pool, seeded.channelId)).toBe(0);
  });

  it('keeps a delayed recipient back until its time', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 1 });
    const claimId = randomUUID();
    await claim(seeded, 1, { claimId });
    await record(seeded, claimId, new Map([[1, { kind: 'released', delayMs: 60_000, attempted: true }]]));
    const waiting = await claim(seeded, 1);
    expect(waiting.kind).toBe('empty');
    expect(waiting.kind === 'empty' ? waiting.waitMs : 0).toBeGreaterThan(50_000);
  });
});

describe('expireClaims', () => {
  it('marks recipients of a dead process UNKNOWN, and lets a late result settle them', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 3 });
    const claimId = randomUUID();
    await claim(seeded, 3, { claimId });
    expect(await expireClaims(test.pool, { ...seeded, graceSeconds: 600 })).toBe(0);
    await test.pool.query(
      sql.type(nothing)`UPDATE campaign_claim SET claimed_at = now() - interval '11 minutes'`,
    );
    expect(await expireClaims(test.pool, { ...seeded, graceSeconds: 600 })).toBe(3);
    expect((await expectSoundBooks(seeded)).reserved).toBe(messagePrice * 3n);
    await record(seeded, claimId, new Map([[2, { kind: 'accepted', providerMessageId: 'wamid.late' }]]));
    const books = await expectSoundBooks(seeded);
    expect(books.reserved).toBe(messagePrice * 2n);
    expect(await claim(seeded, 3)).toMatchObject({ kind: 'empty', waitMs: null });
  });

  it('lets a release after the grace period fail the recipient and free its money', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 1 });
    const claimId = randomUUID();
    await claim(seeded, 1, { claimId });
    expect(await expireClaims(test.pool, { ...seeded, graceSeconds: 0 })).toBe(1);
    await record(seeded, claimId, new Map([[1, { kind: 'released', delayMs: 0, attempted: false }]]));
    expect((await expectSoundBooks(seeded)).reserved).toBe(0n);
    expect(
      await test.pool.one(sql.type(Settled)`
        SELECT state, reason, provider_message_id FROM recipient WHERE campaign_id = ${seeded.campaignId}`),
    ).toEqual({ state: 'FAILED', reason: 'PROVIDER_UNREACHABLE', provider_message_id: null });
  });
});
