import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { slowDown } from '../../../src/records/sending/channel-rate.ts';
import { recordAnswers } from '../../../src/records/sending/circuit-breaker.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { seedCampaign, type SeededCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { lease as leaseTokens } from '../../support/lease.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase({ poolSize: 8 });
});
afterAll(() => test.drop());

const seedChannel = () => seedCampaign(test.pool, { recipients: 500, messagesPerSecond: 1_000 });

const note = (
  { channelId }: SeededCampaign,
  answers: { succeeded?: boolean; failures?: number; isProbe?: boolean },
) => recordAnswers(test.pool, { channelId, succeeded: false, failures: 0, isProbe: false, ...answers });

const lease = (seeded: SeededCampaign) => leaseTokens(test.pool, seeded);

/** Advances the clock. */
const pass = ({ channelId }: SeededCampaign, seconds: number) =>
  test.pool.query(sql.type(nothing)`
    UPDATE channel_rate SET open_until = open_until - make_interval(secs => ${seconds}),
      probed_at = probed_at - make_interval(secs => ${seconds}), next_at = clock_timestamp() - interval '1 second'
    WHERE channel_id = ${channelId}`);

describe('the circuit breaker of a channel', () => {
  it('opens after ten failures in a row, over all steps', async () => {
    const channel = await seedChannel();
    const openTimes = await Promise.all(Array.from({ length: 9 }, () => note(channel, { failures: 1 })));
    expect(openTimes.every((openMs) => openMs === 0)).toBe(true);
    expect(await lease(channel)).toMatchObject({ isFailing: true, isProbe: false });
    expect(await note(channel, { failures: 1 })).toBeGreaterThan(1_500);
    expect(await lease(channel)).toMatchObject({ granted: 0, isFailing: true });
  });

  it('stays closed if an answer succeeded in between', async () => {
    const channel = await seedChannel();
    await note(channel, { failures: 9 });
    expect(await note(channel, { succeeded: true, failures: 9 })).toBe(0);
    expect(await note(channel, { succeeded: true })).toBe(0);
    expect(await lease(channel)).toMatchObject({ isFailing: false });
  });

  it('lets one probe through after each cool-down of 2, 4, 8 … 60 seconds', async () => {
    const channel = await seedChannel();
    await note(channel, { failures: 12 });
    for (const seconds of [4, 8, 16, 32, ...Array<number>(10).fill(60)]) {
      await pass(channel, 61);
      const leases = await Promise.all(Array.from({ length: 6 }, () => lease(channel)));
      expect(leases.filter(({ granted }) => granted > 0)).toMatchObject([{ granted: 1, isProbe: true }]);
      const openMs = await note(channel, { failures: 1, isProbe: true });
      expect(openMs).toBeLessThanOrEqual(seconds * 1_000);
      // The cool-down before was half as long.
      expect(openMs).toBeGreaterThan(seconds * 500);
      // Failures of messages sent before the circuit opened do not extend the cool-down.
      expect(await note(channel, { failures: 5 })).toBeLessThanOrEqual(openMs);
    }
    await pass(channel, 61);
    await lease(channel);
    expect(await note(channel, { succeeded: true, isProbe: true })).toBe(0);
    expect((await lease(channel)).granted).toBe(50);
  });

  it('lets another probe through when the first was not sent, or its process died', async () => {
    const channel = await seedChannel();
    await note(channel, { failures: 10 });
    await pass(channel, 3);
    expect(await lease(channel)).toMatchObject({ isProbe: true });
    expect((await lease(channel)).granted).toBe(0);
    await note(channel, { isProbe: true });
    expect(await lease(channel)).toMatchObject({ isProbe: true });
    await pass(channel, 31);
    expect(await lease(channel)).toMatchObject({ isProbe: true });
  });

  it('stays open no longer than its cool-down when the clock is set back', async () => {
    const channel = await seedChannel();
    await note(channel, { failures: 12 });
    await pass(channel, -3_600);
    expect(await note(channel, { failures: 1 })).toBeLessThanOrEqual(2_000);
    await test.pool.query(sql.type(nothing)`
      UPDATE channel_rate SET silent_until = now() + interval '2 hours', times_opened = 0, failure_count = 0
      WHERE channel_id = ${channel.channelId}`);
    await slowDown(test.pool, { channelId: channel.channelId, holdMs: 20_000 });
    expect(await lease(channel)).toMatchObject({ granted: 0 });
  });
});
