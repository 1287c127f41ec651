import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endTurn, renewTurn, takeTurn, type HeldTurn } from '../../../src/records/sending/channel-turns.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { seedCampaign, type SeededCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { seedOnChannel } from '../../support/sending-crowd.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase({ poolSize: 12 });
});
afterAll(() => test.drop());

async function seedCampaigns(count: number, recipients = 500): Promise<SeededCampaign[]> {
  const first = await seedCampaign(test.pool, { recipients, messagesPerSecond: 80 });
  const campaigns = [first];
  while (campaigns.length < count) campaigns.push(await seedOnChannel(test.pool, first, { recipients }));
  return campaigns;
}

async function take(campaign: SeededCampaign): Promise<HeldTurn | undefined> {
  const stepId = randomUUID();
  const turn = await takeTurn(test.pool, { campaignId: campaign.campaignId, stepId });
  return turn?.place == null ? undefined : { ...campaign, stepId, place: turn.place };
}

const end = (turn: HeldTurn, { tokensUsed = 80, goesOn = true, keepMs = 0 } = {}) =>
  endTurn(test.pool, turn, { tokensUsed, answerMs: 100, goesOn, keepMs });

const lapse = ({ channelId }: SeededCampaign) =>
  test.pool.query(sql.type(nothing)`
    UPDATE channel_turn SET until = clock_timestamp() - interval '1 second' WHERE channel_id = ${channelId}`);

describe('turns of a channel', () => {
  it('are four at a time, however many ask at the same moment', async () => {
    const campaigns = await seedCampaigns(12);
    const turns = await Promise.all(campaigns.map(take));
    expect(turns.filter((turn) => turn !== undefined)).toHaveLength(4);
    expect(new Set(turns.map((turn) => turn?.place)).size).toBe(5);
  });

  it('are handed on to whoever has taken least, a small campaign before the large ones', async () => {
    const campaigns = await seedCampaigns(8);
    const [first] = campaigns;
    if (first === undefined) throw new Error('There is no campaign');
    const running = (await Promise.all(campaigns.slice(0, 4).map(take))).filter((turn) => turn !== undefined);
    expect(running).toHaveLength(4);
    for (const campaign of campaigns.slice(4)) expect(await take(campaign)).toBeUndefined();
    const small = await seedOnChannel(test.pool, first, { recipients: 10 });
    expect(await take(small)).toBeUndefined();

    const called: (string | null)[] = [];
    for (const turn of running) called.push((await end(turn)).next);
    expect(called[0]).toBe(small.campaignId);
    expect(new Set(called)).toEqual(
      new Set([small, ...campaigns.slice(4, 7)].map(({ campaignId }) => campaignId)),
    );
    // The places are theirs: whoever ended its turn does not get it back before them.
    expect(await take(first)).toBeUndefined();
    expect(await take(small)).toBeDefined();
  });

  it('are lost by a process that stands still or dies', async () => {
    const campaigns = await seedCampaigns(5);
    const turns = await Promise.all(campaigns.slice(0, 4).map(take));
    const [last] = campaigns.slice(4);
    if (last === undefined || turns[0] === undefined) throw new Error('There is no turn');
    expect(await take(last)).toBeUndefined();
    expect(await renewTurn(test.pool, turns[0])).toBe(true);
    await lapse(last);
    expect(await take(last)).toBeDefined();
    for (const campaign of campaigns.slice(0, 3)) expect(await take(campaign)).toBeDefined();
    expect(await renewTurn(test.pool, turns[0])).toBe(false);
    expect((await end(turns[0])).next).toBeNull();
  });

  it('are two for a campaign alone, and one while another waits', async () => {
    const [alone, second, ...others] = await seedCampaigns(5);
    if (alone === undefined || second === undefined) throw new Error('There is no campaign');
    const first = await take(alone);
    expect(await take(alone)).toBeDefined();
    expect(await take(alone)).toBeUndefined();
    for (const campaign of [second, ...others].slice(0, 2)) expect(await take(campaign)).toBeDefined();
    for (const campaign of others.slice(1)) expect(await take(campaign)).toBeUndefined();
    if (first === undefined) throw new Error('There is no turn');
    const { next, room } = await end(first);
    expect(others.map(({ campaignId }) => campaignId)).toContain(next);
    expect(room).toBe(false);
    // It holds another one still, and is not queued for a second.
    expect(await take(alone)).toBeUndefined();
  });

  it('stay with their campaigns while nobody of the channel could send', async () => {
    const campaigns = await seedCampaigns(5);
    const turns = await Promise.all(campaigns.slice(0, 4).map(take));
    const [last] = campaigns.slice(4);
    const [turn] = turns;
    if (last === undefined || turn === undefined) throw new Error('There is no turn');
    expect(await take(last)).toBeUndefined();
    expect(await end(turn, { keepMs: 30_000 })).toMatchObject({ next: null });
    expect(await take(last)).toBeUndefined();
    expect(await take(turn as unknown as SeededCampaign)).toMatchObject({ place: turn.place });
  });

  it('are asked for five times a second by all who wait together', async () => {
    const [first] = await seedCampaigns(1);
    if (first === undefined) throw new Error('There is no campaign');
    await test.pool.query(sql.type(nothing)`
      INSERT INTO channel_turn (channel_id, place, campaign_id, until)
      SELECT ${first.channelId}, place, gen_random_uuid(), clock_timestamp() + interval '1 minute'
      FROM generate_series(1, 4) AS place`);
    const others = await Promise.all(
      Array.from({ length: 30 }, () => seedOnChannel(test.pool, first, { recipients: 1 })),
    );
    let lastWaitMs = 0;
    for (const { campaignId } of others) {
      const turn = await takeTurn(test.pool, { campaignId, stepId: randomUUID() });
      expect(turn?.place).toBeNull();
      lastWaitMs = turn?.ask_again_ms ?? 0;
    }
    expect(lastWaitMs).toBeGreaterThanOrEqual((29 * 1_000) / 5);
  });
});
