import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { slowDown, takeSingleToken } from '../../../src/records/sending/channel-rate.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { seedCampaign, type SeededCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { lease as leaseTokens, type Lease } from '../../support/lease.ts';

// The instants at which tokens fall due are data on the database's clock: nothing here depends on how fast the test runs.
let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase({ poolSize: 8 });
});
afterAll(() => test.drop());

const perSecond = 1_000;
const aheadMs = 100;
/** 97.5 % of the limit. */
const spacingMs = 1_000 / (perSecond * 0.975);

const seedChannel = (): Promise<SeededCampaign> =>
  seedCampaign(test.pool, { recipients: 3_000, messagesPerSecond: perSecond });

const lease = (seeded: SeededCampaign, wanted: number) => leaseTokens(test.pool, seeded, { wanted, aheadMs });

const single = ({ channelId }: SeededCampaign) =>
  takeSingleToken(test.pool, { channelId, longestWaitMs: 10_000 }).then(({ waitMs }) => waitMs);

const dueTimes = ({ granted, dueAt, spacingMs: spacing }: Lease): readonly number[] =>
  Array.from({ length: granted }, (_, token) => dueAt + token * spacing);

const busiestSecond = (times: readonly number[]): number => {
  const sorted = times.toSorted((a, b) => a - b);
  let first = 0;
  return Math.max(
    ...sorted.map((at, i) => {
      while ((sorted[first] ?? at) <= at - 1_000) first += 1;
      return i - first + 1;
    }),
  );
};

/** Leases until nothing is granted any more. */
async function exhaust(seeded: SeededCampaign): Promise<readonly Lease[]> {
  const leases: Lease[] = [];
  for (;;) {
    const next = await lease(seeded, 100);
    if (next.granted === 0) return leases;
    leases.push(next);
  }
}

const moveBack = ({ channelId }: SeededCampaign, column: 'factor_changed_at' | 'next_at', seconds: number) =>
  test.pool.query(sql.type(nothing)`
    UPDATE channel_rate SET ${sql.identifier([column])} = ${sql.identifier([column])} - make_interval(secs => ${seconds})
    WHERE channel_id = ${channelId}`);

describe('the schedule of a channel', () => {
  it('hands out no token twice, and in no second more than the limit, under concurrent claims', async () => {
    const channel = await seedChannel();
    const times: number[] = [];
    let singles = 0;
    const campaign = async (): Promise<void> => {
      while (times.length < 1_500) {
        const next = await lease(channel, 37);
        times.push(...dueTimes(next));
        if (next.granted === 0) await sleep(next.dueInMs - aheadMs);
      }
    };
    const sendSingly = async (): Promise<void> => {
      while (times.length < 1_500) {
        await single(channel);
        singles += 1;
        await sleep(5);
      }
    };
    await Promise.all([
      campaign(),
      campaign(),
      campaign(),
      campaign(),
      campaign(),
      sendSingly(),
      sendSingly(),
    ]);
    const sorted = times.toSorted((a, b) => a - b);
    const closest = Math.min(...sorted.slice(1).map((at, i) => at - (sorted[i] ?? 0)));
    expect(closest).toBeGreaterThan(spacingMs - 0.01);
    expect(busiestSecond(times)).toBeLessThanOrEqual(perSecond * 0.975 + 1);
    // Single sends and campaigns share one schedule: their tokens alternate.
    const span = (sorted.at(-1) ?? 0) - (sorted[0] ?? 0);
    expect(singles).toBeGreaterThan(0);
    expect(span).toBeGreaterThan((times.length + singles - 50) * spacingMs);
  });

  it('accumulates no tokens in an idle hour', async () => {
    const channel = await seedChannel();
    await moveBack(channel, 'next_at', 3_600);
    const [first, ...others] = await exhaust(channel);
    expect(first?.dueAt).toBeGreaterThan((first?.now ?? 0) - 5_000);
    for (const { dueAt, now } of others) expect(dueAt).toBeLessThanOrEqual(now + aheadMs);
  });

  it('schedules a single send directly behind the leased tokens, before every campaign', async () => {
    const channel = await seedChannel();
    await exhaust(channel);
    const waits = await Promise.all(Array.from({ length: 5 }, () => single(channel)));
    // A lease begins at most `aheadMs` from now and has a bounded length.
    expect(Math.max(...waits)).toBeLessThanOrEqual(aheadMs + 100 * spacingMs + 5 * spacingMs);
    const { granted, dueInMs } = await lease(channel, 1);
    if (granted === 0) expect(dueInMs).toBeGreaterThan(0);
  });

  it('takes no token for a single send that would have to wait too long', async () => {
    const channel = await seedChannel();
    await moveBack(channel, 'next_at', -30);
    expect(await single(channel)).toBeGreaterThan(20_000);
    await moveBack(channel, 'next_at', 30);
    expect((await lease(channel, 1)).granted).toBe(1);
  });
});

describe('a throttled channel', () => {
  const rateAfter = async (channel: SeededCampaign, seconds: number): Promise<number> => {
    await moveBack(channel, 'factor_changed_at', seconds);
    await moveBack(channel, 'next_at', 60);
    return 1_000 / (await lease(channel, 1)).spacingMs;
  };

  it('goes at half its rate, gains 2 % of the limit each second and is back after 25 seconds', async () => {
    const channel = await seedChannel();
    await slowDown(test.pool, channel);
    const full = perSecond * 0.975;
    // Slow statements give the rate more time to recover, so only the lower bounds are exact.
    const atOnce = await rateAfter(channel, 0);
    expect(atOnce).toBeGreaterThanOrEqual(full * 0.5);
    expect(atOnce).toBeLessThan(full * 0.6);
    const later = await rateAfter(channel, 10);
    expect(later - atOnce).toBeGreaterThanOrEqual(full * 0.2);
    expect(later).toBeLessThan(full * 0.8);
    expect(await rateAfter(channel, 15)).toBeCloseTo(full);
    expect(await rateAfter(channel, 3_600)).toBeCloseTo(full);
  });

  it('halves the rate once for many throttled answers within a second, and again for a later one', async () => {
    const channel = await seedChannel();
    await Promise.all(Array.from({ length: 20 }, () => slowDown(test.pool, channel)));
    expect(await rateAfter(channel, 0)).toBeGreaterThanOrEqual(perSecond * 0.975 * 0.5);
    await moveBack(channel, 'factor_changed_at', 1);
    await slowDown(test.pool, channel);
    expect(await rateAfter(channel, 0)).toBeLessThan(perSecond * 0.975 * 0.35);
  });

  it('is silent for as long as the provider asks, for campaigns and single sends alike', async () => {
    const channel = await seedChannel();
    // An hour is the longest wait that is read from an answer.
    for (const holdMs of [60_000, 600_000, 3_600_000]) {
      await slowDown(test.pool, { channelId: channel.channelId, holdMs });
      const silent = await lease(channel, 10);
      expect(silent.granted).toBe(0);
      expect(silent.dueInMs).toBeGreaterThan(holdMs - 10_000);
      expect(await single(channel)).toBeGreaterThan(holdMs - 10_000);
    }
  });
});
