import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  acquireSlot,
  handOverSlot,
  type HeldSlot,
  recordSlotUsage,
  rejoinSlotQueue,
  releaseSlot,
  renewSlot,
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

/** At 80 messages a second; 20 recipients and fewer make a small campaign. */
async function seedCampaigns(count: number, recipients = 500): Promise<SeededCampaign[]> {
  const first = await seedCampaign(test.pool, { recipients, messagesPerSecond: 80 });
  const campaigns = [first];
  while (campaigns.length < count) campaigns.push(await seedOnChannel(test.pool, first, { recipients }));
  return campaigns;
}

async function take(campaign: SeededCampaign): Promise<HeldSlot | undefined> {
  const stepId = randomUUID();
  const answer = await acquireSlot(test.pool, { campaignId: campaign.campaignId, stepId });
  return answer.kind === 'acquired' ? { ...campaign, stepId, slotNumber: answer.slotNumber } : undefined;
}

async function taken(campaign: SeededCampaign | undefined): Promise<HeldSlot> {
  const slot = campaign === undefined ? undefined : await take(campaign);
  if (slot === undefined) throw new Error('No slot was free');
  return slot;
}

async function end(slot: HeldSlot, { reserveMs = 0, tokensUsed = 80, waits = true } = {}) {
  const next = await releaseSlot(test.pool, slot, { reserveMs });
  await recordSlotUsage(test.pool, slot, { tokensUsed, answerMs: 100, drained: false, waits });
  return next;
}

const lapse = ({ channelId }: SeededCampaign) =>
  test.pool.query(sql.type(nothing)`
    UPDATE send_slot SET expires_at = clock_timestamp() - interval '1 second' WHERE channel_id = ${channelId}`);

const waitingUsage = { tokensUsed: 80, answerMs: 100, drained: false, waits: true };

const setPending = ({ campaignId }: SeededCampaign, pending: number) =>
  test.pool.query(sql.type(nothing)`
    UPDATE campaign_counter SET pending = ${pending} WHERE campaign_id = ${campaignId}`);

const waits = ({ campaignId }: SeededCampaign) =>
  test.pool.oneFirst(sql.type(row(t.type({ waiting: t.boolean })))`
    SELECT waiting FROM slot_queue WHERE campaign_id = ${campaignId}`);

/** Resolves when a statement in this database waits for a lock. */
async function untilBlocked(): Promise<void> {
  const blocked = () =>
    test.owner.oneFirst(sql.type(row(t.type({ blocked: t.boolean })))`
      SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock') AS blocked`);
  while (!(await blocked())) await sleep(10);
}

describe('send slots of a channel', () => {
  it('give large campaigns slot 1 alone, however many ask at the same moment', async () => {
    const answers = await Promise.all((await seedCampaigns(12)).map(take));
    expect(answers.filter((slot) => slot !== undefined)).toHaveLength(1);
  });

  it('give small campaigns three more slots', async () => {
    const [large, ...others] = await seedCampaigns(3);
    if (large === undefined) throw new Error('There is no campaign');
    const small = await Promise.all(
      Array.from({ length: 12 }, () => seedOnChannel(test.pool, large, { recipients: 20 })),
    );
    await taken(large);
    const answers = await Promise.all([...small, ...others].map(take));
    const numbers = answers.filter((slot) => slot !== undefined).map(({ slotNumber }) => slotNumber);
    expect(numbers.toSorted()).toEqual([2, 3, 4]);
    const [slot] = answers.filter((held) => held !== undefined);
    if (slot === undefined) throw new Error('No slot was acquired');
    // A released small slot goes to another small campaign.
    expect(small.map(({ campaignId }) => campaignId)).toContain(await end(slot));
  });

  it('go to the waiting campaign with the lowest virtual time while the present holder still sends', async () => {
    const [first, second, third, fourth] = await seedCampaigns(4);
    const slot = await taken(first);
    if (first === undefined || second === undefined || third === undefined || fourth === undefined) return;
    for (const campaign of [second, third]) expect(await take(campaign)).toBeUndefined();
    expect(await handOverSlot(test.pool, slot, { orToItself: false })).toBe(second.campaignId);
    // Until the next holder acquires the slot, no other campaign is selected, and none can acquire it.
    expect(await handOverSlot(test.pool, slot, { orToItself: false })).toBeNull();
    expect(await take(third)).toBeUndefined();
    expect(await renewSlot(test.pool, slot)).toBe(true);
    const next = await taken(second);
    expect(next.slotNumber).toBe(slot.slotNumber);
    expect(await renewSlot(test.pool, slot)).toBe(false);
    // The former holder still sends what it has claimed; it has no slot to release.
    expect(await end(slot)).toBeNull();
    expect(await renewSlot(test.pool, next)).toBe(true);
    await recordSlotUsage(test.pool, next, { tokensUsed: 200, answerMs: 100, drained: false, waits: false });
    expect(await end(next)).toBe(third.campaignId);
    // The slot is reserved for the next holder.
    expect(await take(first)).toBeUndefined();
    expect(await taken(third)).toBeDefined();
    // A new campaign joins at the lowest virtual time.
    expect(await take(fourth)).toBeUndefined();
    const used = await test.pool.any(sql.type(row(t.type({ campaign_id: t.string, used: t.number })))`
      SELECT campaign_id, virtual_time::int AS used FROM slot_queue WHERE campaign_id IN (${first.campaignId}, ${fourth.campaignId})`);
    expect(used.find(({ campaign_id: id }) => id === first.campaignId)?.used).toBe(80);
    expect(used.find(({ campaign_id: id }) => id === fourth.campaignId)?.used).toBe(0);
  });

  it('are not renewed once the next holder has acquired them', async () => {
    const [first, second] = await seedCampaigns(2);
    const slot = await taken(first);
    if (second === undefined || first === undefined) return;
    expect(await take(second)).toBeUndefined();
    await handOverSlot(test.pool, slot, { orToItself: false });
    await taken(second);
    expect((await lease(test.pool, first)).granted).toBeGreaterThan(0);
    expect(await renewSlot(test.pool, slot)).toBe(false);
  });

  it('go to another campaign if the next holder does not come in time', async () => {
    const [first, second, third] = await seedCampaigns(3);
    const slot = await taken(first);
    if (second === undefined || third === undefined) return;
    for (const campaign of [second, third]) await take(campaign);
    expect(await handOverSlot(test.pool, slot, { orToItself: false })).toBe(second.campaignId);
    await test.pool.query(sql.type(nothing)`
      UPDATE send_slot SET handover_at = handover_at - interval '4 seconds' WHERE channel_id = ${second.channelId}`);
    expect(await handOverSlot(test.pool, slot, { orToItself: false })).toBe(third.campaignId);
    expect(await take(third)).toBeDefined();
  });

  it('return soon to a campaign that had sent alone', async () => {
    const campaigns = await seedCampaigns(3, 50_000);
    const [alone, ...others] = campaigns;
    let slot = await taken(alone);
    for (const campaign of others) await take(campaign);
    let next = await end(slot, { tokensUsed: 2_000 });
    let between = 0;
    while (next !== alone?.campaignId && between < 50) {
      slot = await taken(campaigns.find(({ campaignId }) => campaignId === next));
      next = await end(slot);
      between += 1;
    }
    expect(between).toBeLessThanOrEqual(6);
  });

  it('are not handed to a campaign that is not running', async () => {
    const [first, second] = await seedCampaigns(2);
    const slot = await taken(first);
    if (second === undefined) return;
    await take(second);
    await test.pool.query(sql.type(nothing)`
      UPDATE campaign SET status = 'PAUSED', pause_reason = 'OPERATOR' WHERE id = ${second.campaignId}`);
    expect(await handOverSlot(test.pool, slot, { orToItself: false })).toBeNull();
    expect(await acquireSlot(test.pool, { ...second, stepId: randomUUID() })).toEqual({
      kind: 'not_running',
    });
  });

  it('are lost when the lease expires', async () => {
    const [first, second] = await seedCampaigns(2);
    const slot = await taken(first);
    if (second === undefined) return;
    expect(await take(second)).toBeUndefined();
    await lapse(second);
    expect(await take(second)).toBeDefined();
    expect(await renewSlot(test.pool, slot)).toBe(false);
    expect(await end(slot)).toBeNull();
  });

  it('are held one at a time by a campaign', async () => {
    const [alone] = await seedCampaigns(1);
    const slot = await taken(alone);
    if (alone === undefined) return;
    expect(await take(alone)).toBeUndefined();
    // A campaign does not wait for itself; its next step acquires the slot after a handover to itself.
    expect(await handOverSlot(test.pool, slot, { orToItself: false })).toBeNull();
    expect(await handOverSlot(test.pool, slot, { orToItself: true })).toBe(alone.campaignId);
    const following = await taken(alone);
    expect(await renewSlot(test.pool, slot)).toBe(false);
    expect(await handOverSlot(test.pool, following, { orToItself: true })).toBe(alone.campaignId);
    // A handover to itself leaves the slot free when the step ends.
    expect(await end(following, { waits: false })).toBeNull();
    expect(await take(alone)).toBeDefined();
  });

  it('are not kept for a campaign that has one already', async () => {
    const [small, other] = await seedCampaigns(2, 20);
    const slot = await taken(small);
    const second = await taken(other);
    if (small === undefined || other === undefined) return;
    // A step that asks beside the one that sends joins the queue.
    expect(await take(small)).toBeUndefined();
    expect(await end(second, { waits: false })).toBeNull();
    // Nor while a slot is reserved for it.
    const third = await taken(other);
    expect(await end(slot, { reserveMs: 5_000 })).toBeNull();
    expect(await end(third, { waits: false })).toBeNull();
  });

  it('are asked for at once by a campaign whose rest is small, when it has handed slot 1 over', async () => {
    const [large, next] = await seedCampaigns(2);
    const slot = await taken(large);
    if (large === undefined || next === undefined) return;
    expect(await take(next)).toBeUndefined();
    expect(await handOverSlot(test.pool, slot, { orToItself: false })).toBe(next.campaignId);
    await taken(next);
    await setPending(large, 10);
    expect(await recordSlotUsage(test.pool, slot, waitingUsage)).toBe(0);
    expect((await taken(large)).slotNumber).toBeGreaterThan(1);
  });

  it('are asked for at once if the next holder has released its slot before the former one waits', async () => {
    const [first, second] = await seedCampaigns(2);
    const slot = await taken(first);
    if (second === undefined) return;
    expect(await take(second)).toBeUndefined();
    expect(await releaseSlot(test.pool, slot)).toBe(second.campaignId);
    const next = await taken(second);
    expect(await recordSlotUsage(test.pool, slot, waitingUsage)).toBe(4_000);
    expect(await releaseSlot(test.pool, next)).toBe(slot.campaignId);
    const again = await taken(first);
    expect(await releaseSlot(test.pool, again)).toBeNull();
    expect(await recordSlotUsage(test.pool, again, waitingUsage)).toBe(0);
  });

  it('leave a campaign in the queue when the step that hands over to it has lost the slot meanwhile', async () => {
    const [first, second] = await seedCampaigns(2);
    const slot = await taken(first);
    if (second === undefined) return;
    expect(await take(second)).toBeUndefined();
    // Acquires the slot as the waiting campaign's own step does: first the slot's row, then the queue's.
    const other = new pg.Client({ connectionString: test.ownerUrl });
    await other.connect();
    await other.query('BEGIN');
    await other.query('UPDATE send_slot SET step_id = gen_random_uuid() WHERE channel_id = $1', [
      slot.channelId,
    ]);
    const handedOver = handOverSlot(test.pool, slot, { orToItself: false });
    await untilBlocked();
    await other.query('UPDATE slot_queue SET waiting = waiting WHERE campaign_id = $1', [second.campaignId]);
    await other.query('COMMIT');
    await other.end();
    expect(await handedOver).toBeNull();
    expect(await waits(second)).toBe(true);
  });

  it('leave slot 1 to large campaigns when a small one asks first', async () => {
    const [large] = await seedCampaigns(1);
    if (large === undefined) return;
    const small = await seedOnChannel(test.pool, large, { recipients: 10 });
    expect(await end(await taken(large), { waits: false })).toBeNull();
    expect((await taken(small)).slotNumber).toBe(4);
  });

  it('are first acquired where one is kept for the campaign', async () => {
    const [small, other] = await seedCampaigns(2, 20);
    const own = await taken(small);
    const second = await taken(other);
    if (small === undefined || other === undefined) return;
    expect(await end(own, { waits: true })).toBeNull();
    expect(await end(second, { waits: false })).toBe(small.campaignId);
    expect((await taken(small)).slotNumber).toBe(second.slotNumber);
  });

  it('go to a campaign that began to wait during a handover to the holder itself', async () => {
    const [first, second] = await seedCampaigns(2);
    const slot = await taken(first);
    if (first === undefined || second === undefined) return;
    expect(await handOverSlot(test.pool, slot, { orToItself: true })).toBe(first.campaignId);
    expect(await take(second)).toBeUndefined();
    expect(await end(slot, { waits: false })).toBe(second.campaignId);
  });

  it('are offered again to a campaign whose signal was lost', async () => {
    const [first, second] = await seedCampaigns(2);
    const slot = await taken(first);
    if (first === undefined || second === undefined) return;
    expect(await take(second)).toBeUndefined();
    expect(await handOverSlot(test.pool, slot, { orToItself: false })).toBe(second.campaignId);
    await rejoinSlotQueue(test.pool, second.campaignId);
    expect(await handOverSlot(test.pool, slot, { orToItself: false })).toBeNull();
    await test.pool.query(sql.type(nothing)`
      UPDATE send_slot SET handover_at = handover_at - interval '3 seconds' WHERE channel_id = ${first.channelId}`);
    expect(await handOverSlot(test.pool, slot, { orToItself: false })).toBe(second.campaignId);
  });

  it('stay reserved for their campaign while the channel cannot send', async () => {
    const [first, second] = await seedCampaigns(2);
    const slot = await taken(first);
    if (first === undefined || second === undefined) return;
    expect(await take(second)).toBeUndefined();
    expect(await end(slot, { reserveMs: 30_000, waits: false })).toBeNull();
    expect(await take(second)).toBeUndefined();
    expect(await take(first)).toMatchObject({ slotNumber: slot.slotNumber });
  });

  it('are asked for twice a second by all waiting campaigns together', async () => {
    const [first, ...others] = await seedCampaigns(31);
    const slot = await taken(first);
    let lastWaitMs = 0;
    for (const { campaignId } of others) {
      await renewSlot(test.pool, slot);
      const answer = await acquireSlot(test.pool, { campaignId, stepId: randomUUID() });
      if (answer.kind !== 'busy') throw new Error(answer.kind);
      lastWaitMs = answer.retryMs;
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
    let slot = await taken(fresh[0]);
    for (const campaign of [old, ...fresh.slice(1)]) expect(await take(campaign)).toBeUndefined();
    for (let count = 0; count < 300; count += 1) {
      counts.set(slot.campaignId, (counts.get(slot.campaignId) ?? 0) + 1);
      const next = await end(slot);
      slot = await taken([old, ...fresh].find(({ campaignId }) => campaignId === next));
    }
    const shares = [old, ...fresh].map(({ campaignId }) => counts.get(campaignId) ?? 0);
    for (const share of shares) expect(Math.abs(share - 100)).toBeLessThanOrEqual(15);
  });

  it('are asked for again after a time that counts the waiting campaigns of the same channel only', async () => {
    const crowd = await seedCampaigns(40);
    const [first, second] = await seedCampaigns(2);
    const slot = await taken(crowd[0]);
    for (const campaign of crowd.slice(1)) {
      await renewSlot(test.pool, slot);
      expect(await take(campaign)).toBeUndefined();
    }
    await taken(first);
    const asked = await acquireSlot(test.pool, {
      campaignId: second?.campaignId ?? '',
      stepId: randomUUID(),
    });
    expect(asked).toEqual({ kind: 'busy', retryMs: 4_000 });
  });

  it('are not held by a lease that was written before the clock was set back', async () => {
    const [first, second] = await seedCampaigns(2);
    const slot = await taken(first);
    await test.pool.query(sql.type(nothing)`
      UPDATE send_slot SET expires_at = expires_at + interval '1 hour' WHERE channel_id = ${slot.channelId}`);
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
    const counts = await shareSlots([old, ...fresh], 150);
    for (const count of counts) expect(Math.abs(count - 50)).toBeLessThanOrEqual(8);
    // When it rejoins, it has no credit for the time in which it did not wait.
    const withIdle = await shareSlots([idle, old, ...fresh], 200);
    for (const count of withIdle) expect(Math.abs(count - 50)).toBeLessThanOrEqual(8);
  });

  it('are shared evenly although two campaigns began while the old one was between two steps', async () => {
    const [old, first, second] = await seedCampaigns(3);
    if (old === undefined || first === undefined || second === undefined)
      throw new Error('There is no campaign');
    await test.pool.query(sql.type(nothing)`
      INSERT INTO slot_queue (campaign_id, channel_id, virtual_time, waiting)
      VALUES (${old.campaignId}, ${old.channelId}, 1000000, false)`);
    // The last one begins; the others ask in their order.
    const counts = await shareSlots([second, old, first], 150);
    for (const count of counts) expect(Math.abs(count - 50)).toBeLessThanOrEqual(8);
  });

  it('are shared evenly with a resumed campaign that had asked beside its pause', async () => {
    const [resumed, ...others] = await seedCampaigns(3);
    if (resumed === undefined) throw new Error('There is no campaign');
    await test.pool.transaction(async (transaction) => {
      await moveCampaign(
        transaction,
        await lockCampaign(transaction, resumed.campaignId),
        'pause',
        'OPERATOR',
      );
    });
    for (const [{ campaignId, channelId }, used] of [
      [resumed, 10],
      ...others.map((other) => [other, 1_000_000] as const),
    ] as const)
      await test.pool.query(sql.type(nothing)`
        INSERT INTO slot_queue (campaign_id, channel_id, virtual_time, waiting)
        VALUES (${campaignId}, ${channelId}, ${used}, true)`);
    await test.pool.transaction(async (transaction) => {
      await moveCampaign(transaction, await lockCampaign(transaction, resumed.campaignId), 'resume');
    });
    const counts = await shareSlots([resumed, ...others], 150);
    for (const count of counts) expect(Math.abs(count - 50)).toBeLessThanOrEqual(8);
  });

  it('come back to a campaign whose step died before the clock was set back', async () => {
    const [alone] = await seedCampaigns(1);
    const slot = await taken(alone);
    await test.pool.query(sql.type(nothing)`
      UPDATE send_slot SET expires_at = expires_at + interval '1 hour' WHERE channel_id = ${slot.channelId}`);
    expect(await take(alone as SeededCampaign)).toBeDefined();
  });
});

/** How many of `rounds` slots each campaign gets while all of them wait whenever they do not send. */
async function shareSlots(campaigns: readonly SeededCampaign[], rounds: number): Promise<number[]> {
  const counts = campaigns.map(() => 0);
  await test.pool.query(sql.type(nothing)`
    DELETE FROM send_slot WHERE channel_id = ${campaigns[0]?.channelId ?? ''}`);
  let at = campaigns.length - 1;
  let slot = await taken(campaigns[at]);
  for (const campaign of campaigns.slice(0, -1)) expect(await take(campaign)).toBeUndefined();
  for (let count = 0; count < rounds; count += 1) {
    counts[at] = (counts[at] ?? 0) + 1;
    const next = await end(slot);
    at = campaigns.findIndex(({ campaignId }) => campaignId === next);
    slot = await taken(campaigns[at]);
  }
  await releaseSlot(test.pool, slot);
  return counts;
}
