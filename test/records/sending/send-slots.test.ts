import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  handOverSlot,
  releaseSlot,
  recordSlotUsage,
  renewSlot,
  acquireSlot,
  type HeldSlot,
} from '../../../src/records/sending/send-slots.ts';
import { lockCampaign, moveCampaign } from '../../../src/records/campaigns/lifecycle.ts';
import { nothing, row } from '../../../src/records/database/row.ts';
import { seedCampaign, type SeededCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { lease } from '../../support/lease.ts';
import { seedOnChannel } from '../../support/sending-crowd.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase({ poolSize: 12 });
});
afterAll(() => test.drop());

/** A quarter of a second sends 20. */
async function seedCampaigns(count: number, recipients = 500): Promise<SeededCampaign[]> {
  const first = await seedCampaign(test.pool, { recipients, messagesPerSecond: 80 });
  const campaigns = [first];
  while (campaigns.length < count) campaigns.push(await seedOnChannel(test.pool, first, { recipients }));
  return campaigns;
}

async function take(campaign: SeededCampaign): Promise<HeldSlot | undefined> {
  const stepId = randomUUID();
  const turn = await acquireSlot(test.pool, { campaignId: campaign.campaignId, stepId });
  return turn?.slotNumber == null ? undefined : { ...campaign, stepId, slotNumber: turn.slotNumber };
}

async function taken(campaign: SeededCampaign | undefined): Promise<HeldSlot> {
  const turn = campaign === undefined ? undefined : await take(campaign);
  if (turn === undefined) throw new Error('No place was free');
  return turn;
}

async function end(turn: HeldSlot, { keepMs = 0, tokensUsed = 80, waits = true } = {}) {
  const next = await releaseSlot(test.pool, turn, keepMs);
  await recordSlotUsage(test.pool, turn, { tokensUsed, answerMs: 100, drained: false, waits });
  return next;
}

const lapse = ({ channelId }: SeededCampaign) =>
  test.pool.query(sql.type(nothing)`
    UPDATE send_slot SET expires_at = clock_timestamp() - interval '1 second' WHERE channel_id = ${channelId}`);

describe('turns of a channel', () => {
  it('are one at a time for large campaigns, however many ask at the same moment', async () => {
    const turns = await Promise.all((await seedCampaigns(12)).map(take));
    expect(turns.filter((turn) => turn !== undefined)).toHaveLength(1);
  });

  it('have three places more for campaigns that are over in a moment', async () => {
    const [large, ...others] = await seedCampaigns(3);
    if (large === undefined) throw new Error('There is no campaign');
    await taken(large);
    const small = await Promise.all(
      Array.from({ length: 12 }, () => seedOnChannel(test.pool, large, { recipients: 20 })),
    );
    const turns = await Promise.all([...small, ...others].map(take));
    const places = turns.filter((turn) => turn !== undefined).map(({ slotNumber }) => slotNumber);
    expect(places.toSorted()).toEqual([2, 3, 4]);
    const [turn] = turns.filter((held) => held !== undefined);
    if (turn === undefined) throw new Error('There is no turn');
    // Handing over a small slot calls another small campaign.
    expect(small.map(({ campaignId }) => campaignId)).toContain(await end(turn));
  });

  it('go to whoever has taken least, while the one before still sends', async () => {
    const [first, second, third, fourth] = await seedCampaigns(4);
    const turn = await taken(first);
    if (first === undefined || second === undefined || third === undefined || fourth === undefined) return;
    for (const campaign of [second, third]) expect(await take(campaign)).toBeUndefined();
    expect(await handOverSlot(test.pool, turn, false)).toBe(second.campaignId);
    // Until the called campaign comes, no other one is called or gets the slot.
    expect(await handOverSlot(test.pool, turn, false)).toBeNull();
    expect(await take(third)).toBeUndefined();
    expect(await renewSlot(test.pool, turn)).toBe(true);
    const next = await taken(second);
    expect(next.slotNumber).toBe(turn.slotNumber);
    expect(await renewSlot(test.pool, turn)).toBe(false);
    // The previous holder keeps its leased tokens and ends without the slot.
    expect(await end(turn)).toBeNull();
    expect(await renewSlot(test.pool, next)).toBe(true);
    await recordSlotUsage(test.pool, next, { tokensUsed: 200, answerMs: 100, drained: false, waits: false });
    expect(await end(next)).toBe(third.campaignId);
    // The slot is reserved for the called campaign.
    expect(await take(first)).toBeUndefined();
    expect(await taken(third)).toBeDefined();
    // A new campaign starts at the lowest virtual time.
    expect(await take(fourth)).toBeUndefined();
    const used = await test.pool.any(sql.type(row(t.type({ campaign_id: t.string, used: t.number })))`
      SELECT campaign_id, virtual_time::int AS used FROM slot_queue WHERE campaign_id IN (${first.campaignId}, ${fourth.campaignId})`);
    expect(used.find(({ campaign_id: id }) => id === first.campaignId)?.used).toBe(80);
    expect(used.find(({ campaign_id: id }) => id === fourth.campaignId)?.used).toBe(0);
  });

  it('are told to a claim: who has lost its place sees it there', async () => {
    const [first, second] = await seedCampaigns(2);
    const turn = await taken(first);
    if (second === undefined || first === undefined) return;
    expect(await take(second)).toBeUndefined();
    await handOverSlot(test.pool, turn, false);
    await taken(second);
    expect((await lease(test.pool, first)).granted).toBeGreaterThan(0);
    expect(await renewSlot(test.pool, turn)).toBe(false);
  });

  it('are not held open for a called campaign that does not come', async () => {
    const [first, second, third] = await seedCampaigns(3);
    const turn = await taken(first);
    if (second === undefined || third === undefined) return;
    for (const campaign of [second, third]) await take(campaign);
    expect(await handOverSlot(test.pool, turn, false)).toBe(second.campaignId);
    await test.pool.query(sql.type(nothing)`
      UPDATE send_slot SET handover_at = handover_at - interval '4 seconds' WHERE channel_id = ${second.channelId}`);
    expect(await handOverSlot(test.pool, turn, false)).toBe(third.campaignId);
    expect(await take(third)).toBeDefined();
  });

  it('come again soon to who sent for long because nobody came', async () => {
    const campaigns = await seedCampaigns(3, 50_000);
    const [alone, ...others] = campaigns;
    let turn = await taken(alone);
    for (const campaign of others) await take(campaign);
    let next = await end(turn, { tokensUsed: 2_000 });
    let between = 0;
    while (next !== alone?.campaignId && between < 50) {
      turn = await taken(campaigns.find(({ campaignId }) => campaignId === next));
      next = await end(turn);
      between += 1;
    }
    expect(between).toBeLessThanOrEqual(6);
  });

  it('call nobody who does not run', async () => {
    const [first, second] = await seedCampaigns(2);
    const turn = await taken(first);
    if (second === undefined) return;
    await take(second);
    await test.pool.query(sql.type(nothing)`
      UPDATE campaign SET status = 'PAUSED', pause_reason = 'OPERATOR' WHERE id = ${second.campaignId}`);
    expect(await handOverSlot(test.pool, turn, false)).toBeNull();
    expect(await acquireSlot(test.pool, { ...second, stepId: randomUUID() })).toBeNull();
  });

  it('are lost by a process that stands still or dies', async () => {
    const [first, second] = await seedCampaigns(2);
    const turn = await taken(first);
    if (second === undefined) return;
    expect(await take(second)).toBeUndefined();
    await lapse(second);
    expect(await take(second)).toBeDefined();
    expect(await renewSlot(test.pool, turn)).toBe(false);
    expect(await end(turn)).toBeNull();
  });

  it('are one of a campaign at a time', async () => {
    const [alone] = await seedCampaigns(1);
    const turn = await taken(alone);
    if (alone === undefined) return;
    expect(await take(alone)).toBeUndefined();
    // A campaign does not wait behind itself; it continues when its own step calls it.
    expect(await handOverSlot(test.pool, turn, false)).toBeNull();
    expect(await handOverSlot(test.pool, turn, true)).toBe(alone.campaignId);
    const following = await taken(alone);
    expect(await renewSlot(test.pool, turn)).toBe(false);
    expect(await handOverSlot(test.pool, following, true)).toBe(alone.campaignId);
    // Called by a step that has ended, it leaves the place to anybody.
    expect(await end(following, { waits: false })).toBeNull();
    expect(await take(alone)).toBeDefined();
  });

  it('stay with their campaigns while nobody of the channel could send', async () => {
    const [first, second] = await seedCampaigns(2);
    const turn = await taken(first);
    if (first === undefined || second === undefined) return;
    expect(await take(second)).toBeUndefined();
    expect(await end(turn, { keepMs: 30_000, waits: false })).toBeNull();
    expect(await take(second)).toBeUndefined();
    expect(await take(first)).toMatchObject({ slotNumber: turn.slotNumber });
  });

  it('are asked for twice a second by all who wait together', async () => {
    const [first] = await seedCampaigns(1);
    if (first === undefined) throw new Error('There is no campaign');
    await taken(first);
    let lastWaitMs = 0;
    for (let count = 0; count < 30; count += 1) {
      const { campaignId } = await seedOnChannel(test.pool, first, { recipients: 500 });
      const turn = await acquireSlot(test.pool, { campaignId, stepId: randomUUID() });
      expect(turn?.slotNumber).toBeNull();
      lastWaitMs = turn?.retryInMs ?? 0;
    }
    expect(lastWaitMs).toBeGreaterThanOrEqual((29 * 1_000) / 2);
  });

  it('are shared evenly by an old and two new campaigns beside a paused one', async () => {
    const [old, paused, ...fresh] = await seedCampaigns(4);
    if (old === undefined || paused === undefined) throw new Error('no campaigns');
    const use = (campaign: SeededCampaign, used: number) =>
      test.pool.query(sql.type(nothing)`
        INSERT INTO slot_queue (campaign_id, channel_id, virtual_time, waiting) VALUES (${campaign.campaignId}, ${campaign.channelId}, ${used}, true)`);
    await use(old, 1_000_000);
    await use(paused, 10);
    await test.pool.transaction(async (transaction) => {
      await moveCampaign(
        transaction,
        await lockCampaign(transaction, paused.campaignId),
        'pause',
        'OPERATOR',
      );
    });
    const counts = new Map<string, number>();
    let turn = await taken(fresh[0]);
    for (const campaign of [old, ...fresh.slice(1)]) expect(await take(campaign)).toBeUndefined();
    for (let count = 0; count < 300; count += 1) {
      counts.set(turn.campaignId, (counts.get(turn.campaignId) ?? 0) + 1);
      const next = await end(turn);
      turn = await taken([old, ...fresh].find(({ campaignId }) => campaignId === next));
    }
    const shares = [old, ...fresh].map(({ campaignId }) => counts.get(campaignId) ?? 0);
    for (const share of shares) expect(Math.abs(share - 100)).toBeLessThanOrEqual(15);
  });

  it('ask again after a time that counts the waiters of their own channel alone', async () => {
    const crowd = await seedCampaigns(40);
    await taken(crowd[0]);
    for (const campaign of crowd.slice(1)) expect(await take(campaign)).toBeUndefined();
    const [first, second] = await seedCampaigns(2);
    await taken(first);
    const asked = await acquireSlot(test.pool, {
      campaignId: second?.campaignId ?? '',
      stepId: randomUUID(),
    });
    expect(asked?.retryInMs).toBe(4_000);
  });

  it('are not held by a lease that was written before the clock was set back', async () => {
    const [first, second] = await seedCampaigns(2);
    const turn = await taken(first);
    await test.pool.query(sql.type(nothing)`
      UPDATE send_slot SET expires_at = expires_at + interval '1 hour' WHERE channel_id = ${turn.channelId}`);
    expect(await take(second as SeededCampaign)).toBeDefined();
  });

  it('are shared evenly although another running campaign has long had nothing to send', async () => {
    const [old, idle, ...fresh] = await seedCampaigns(4);
    if (old === undefined || idle === undefined) throw new Error('There are no campaigns');
    for (const [{ campaignId, channelId }, used] of [
      [old, 1_000_000],
      [idle, 10],
    ] as const)
      await test.pool.query(sql.type(nothing)`
        INSERT INTO slot_queue (campaign_id, channel_id, virtual_time, waiting)
        VALUES (${campaignId}, ${channelId}, ${used}, ${campaignId === old.campaignId})`);
    const counts = await shareTurns([old, ...fresh], 150);
    for (const count of counts) expect(Math.abs(count - 50)).toBeLessThanOrEqual(8);
    // Back again, it has no credit for the time in which it did not wait.
    const withIdle = await shareTurns([idle, old, ...fresh], 200);
    for (const count of withIdle) expect(Math.abs(count - 50)).toBeLessThanOrEqual(8);
  });

  it('come back to a campaign whose step died before the clock was set back', async () => {
    const [alone] = await seedCampaigns(1);
    const turn = await taken(alone);
    await test.pool.query(sql.type(nothing)`
      UPDATE send_slot SET expires_at = expires_at + interval '1 hour' WHERE channel_id = ${turn.channelId}`);
    expect(await take(alone as SeededCampaign)).toBeDefined();
  });
});

/** How many of so many turns each campaign gets while all of them wait whenever they do not send. */
async function shareTurns(campaigns: readonly SeededCampaign[], turns: number): Promise<number[]> {
  const counts = campaigns.map(() => 0);
  await test.pool.query(sql.type(nothing)`
    DELETE FROM send_slot WHERE channel_id = ${campaigns[0]?.channelId ?? ''}`);
  let at = campaigns.length - 1;
  let turn = await taken(campaigns[at]);
  for (const campaign of campaigns.slice(0, -1)) expect(await take(campaign)).toBeUndefined();
  for (let count = 0; count < turns; count += 1) {
    counts[at] = (counts[at] ?? 0) + 1;
    const next = await end(turn);
    at = campaigns.findIndex(({ campaignId }) => campaignId === next);
    turn = await taken(campaigns[at]);
  }
  await releaseSlot(test.pool, turn, 0);
  return counts;
}
