import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  leaseTokens,
  slowDown,
  takeSingleToken,
  type TokenLease,
} from '../../../src/records/sending/channel-rate.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { seedCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

// The instants at which tokens fall due are data on the database's clock: nothing here depends on how fast the test runs.
let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase({ poolSize: 8 });
});
afterAll(() => test.drop());

const perSecond = 1_000;
const aheadMs = 400;
const calm = { answerWithinMs: 30_000 };
/** 97.5 % of the limit. */
const spacingMs = 1_000 / (perSecond * 0.975);

const seedChannel = async (): Promise<string> =>
  (await seedCampaign(test.pool, { recipients: 1, messagesPerSecond: perSecond })).channelId;

const dueTimes = ({ granted, dueAt, spacingMs: spacing }: TokenLease): readonly number[] =>
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
async function exhaust(channelId: string): Promise<readonly TokenLease[]> {
  const leases: TokenLease[] = [];
  for (;;) {
    const lease = await leaseTokens(test.pool, { channelId, wanted: 100, ...calm });
    if (lease.granted === 0) return leases;
    leases.push(lease);
  }
}

const moveBack = (channelId: string, column: 'factor_changed_at' | 'next_at', seconds: number) =>
  test.pool.query(sql.type(nothing)`
    UPDATE channel_rate SET ${sql.identifier([column])} = ${sql.identifier([column])} - make_interval(secs => ${seconds})
    WHERE channel_id = ${channelId}`);

describe('the schedule of a channel', () => {
  it('hands out no token twice and no second above the limit, whoever asks at the same time', async () => {
    const channelId = await seedChannel();
    const times: number[] = [];
    let singles = 0;
    const campaign = async (): Promise<void> => {
      while (times.length < 1_500) {
        const lease = await leaseTokens(test.pool, { channelId, wanted: 37, ...calm });
        times.push(...dueTimes(lease));
        if (lease.granted === 0) await sleep(lease.retryInMs);
      }
    };
    const single = async (): Promise<void> => {
      while (times.length < 1_500) {
        await takeSingleToken(test.pool, { channelId, longestWaitMs: 10_000 });
        singles += 1;
        await sleep(5);
      }
    };
    await Promise.all([campaign(), campaign(), campaign(), campaign(), campaign(), single(), single()]);
    const sorted = times.toSorted((a, b) => a - b);
    const closest = Math.min(...sorted.slice(1).map((at, i) => at - (sorted[i] ?? 0)));
    expect(closest).toBeGreaterThan(spacingMs - 0.01);
    expect(busiestSecond(times)).toBeLessThanOrEqual(perSecond * 0.975 + 1);
    // What single sends took stands between the campaigns' tokens: there is no second schedule beside this one.
    const span = (sorted.at(-1) ?? 0) - (sorted[0] ?? 0);
    expect(singles).toBeGreaterThan(0);
    expect(span).toBeGreaterThan((times.length + singles - 50) * spacingMs);
  });

  it('saves up nothing of an idle hour', async () => {
    const channelId = await seedChannel();
    await moveBack(channelId, 'next_at', 3_600);
    const [first, ...others] = await exhaust(channelId);
    expect(first?.dueAt).toBeGreaterThan((first?.now ?? 0) - 5_000);
    for (const { dueAt, now } of others) expect(dueAt).toBeLessThanOrEqual(now + aheadMs);
  });

  it('puts a single send before every campaign: behind what is leased already, and no more', async () => {
    const channelId = await seedChannel();
    await exhaust(channelId);
    const waits = await Promise.all(
      Array.from({ length: 5 }, () => takeSingleToken(test.pool, { channelId, longestWaitMs: 10_000 })),
    );
    // A lease begins at most so far ahead, and is at most so long.
    expect(Math.max(...waits)).toBeLessThanOrEqual(aheadMs + 100 * spacingMs + 5 * spacingMs);
    const { granted, retryInMs } = await leaseTokens(test.pool, { channelId, wanted: 1, ...calm });
    if (granted === 0) expect(retryInMs).toBeGreaterThan(0);
  });

  it('takes no token for a single send that would have to wait too long', async () => {
    const channelId = await seedChannel();
    await moveBack(channelId, 'next_at', -30);
    expect(await takeSingleToken(test.pool, { channelId, longestWaitMs: 10_000 })).toBeGreaterThan(20_000);
    await moveBack(channelId, 'next_at', 30);
    expect((await leaseTokens(test.pool, { channelId, wanted: 1, ...calm })).granted).toBe(1);
  });
});

describe('a throttled channel', () => {
  const rateAfter = async (channelId: string, seconds: number): Promise<number> => {
    await moveBack(channelId, 'factor_changed_at', seconds);
    await moveBack(channelId, 'next_at', 60);
    return 1_000 / (await leaseTokens(test.pool, { channelId, wanted: 1, ...calm })).spacingMs;
  };

  it('goes at half its rate, gains 2 % of the limit each second and is back after 25 seconds', async () => {
    const channelId = await seedChannel();
    await slowDown(test.pool, { channelId });
    const full = perSecond * 0.975;
    // However long the statements of this test take, they add to the time that passed, not to the rate that is asserted.
    const atOnce = await rateAfter(channelId, 0);
    expect(atOnce).toBeGreaterThanOrEqual(full * 0.5);
    expect(atOnce).toBeLessThan(full * 0.6);
    const later = await rateAfter(channelId, 10);
    expect(later - atOnce).toBeGreaterThanOrEqual(full * 0.2);
    expect(later).toBeLessThan(full * 0.8);
    expect(await rateAfter(channelId, 15)).toBeCloseTo(full);
    expect(await rateAfter(channelId, 3_600)).toBeCloseTo(full);
  });

  it('takes many answers of one moment for one sign, and the next moment for another', async () => {
    const channelId = await seedChannel();
    await Promise.all(Array.from({ length: 20 }, () => slowDown(test.pool, { channelId })));
    expect(await rateAfter(channelId, 0)).toBeGreaterThanOrEqual(perSecond * 0.975 * 0.5);
    await moveBack(channelId, 'factor_changed_at', 1);
    await slowDown(test.pool, { channelId });
    expect(await rateAfter(channelId, 0)).toBeLessThan(perSecond * 0.975 * 0.35);
  });

  it('is silent for as long as the provider asks, for campaigns and single sends alike', async () => {
    const channelId = await seedChannel();
    await slowDown(test.pool, { channelId, holdMs: 60_000 });
    const lease = await leaseTokens(test.pool, { channelId, wanted: 10, ...calm });
    expect(lease.granted).toBe(0);
    expect(lease.retryInMs).toBeGreaterThan(50_000);
    expect(await takeSingleToken(test.pool, { channelId, longestWaitMs: 10_000 })).toBeGreaterThan(50_000);
  });
});
