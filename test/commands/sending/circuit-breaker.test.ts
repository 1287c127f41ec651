/** Effects of a failing provider on the recipients of a campaign. The tests run concurrently, because they mostly wait. */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendSingleMessage } from '../../../src/commands/messages/send-single-message.ts';
import { runSendStep } from '../../../src/commands/sending/run-send-step.ts';
import { getCampaignSnapshot } from '../../../src/records/campaigns/campaign-snapshot.ts';
import { nothing, row } from '../../../src/records/database/row.ts';
import { recordAnswers } from '../../../src/records/sending/circuit-breaker.ts';
import { getTemplate } from '../../../src/records/templates/templates.ts';
import { getChannel } from '../../../src/records/workspaces/channels.ts';
import { aSignal } from '../../support/a-signal.ts';
import { checkBooks, seedCampaign, type SeededCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { sendingDependencies } from '../../support/sending-dependencies.ts';
import { accept, createFakeProvider, refuse, type Answer } from '../../support/fake-provider.ts';
import { createCrowd, seedOnChannel } from '../../support/sending-crowd.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase({ poolSize: 32 });
});
afterAll(() => test.drop());

const hold = ({ channelId }: SeededCampaign, seconds: number) =>
  test.pool.query(sql.type(nothing)`
    UPDATE channel_rate SET silent_until = clock_timestamp() + make_interval(secs => ${seconds})
    WHERE channel_id = ${channelId}`);

const countsOf = async ({ campaignId }: SeededCampaign) =>
  (await getCampaignSnapshot(test.pool, campaignId)).counts;

describe.concurrent('a channel that the provider throttles for minutes', () => {
  it('leaves no recipient CLAIMED or UNKNOWN, and takes no send slot from another channel', async ({
    expect: expectHere,
  }) => {
    const held = await seedCampaign(test.pool, { recipients: 500, messagesPerSecond: 100 });
    const others = await Promise.all(
      Array.from({ length: 9 }, () => seedOnChannel(test.pool, held, { recipients: 500 })),
    );
    const healthy = await seedCampaign(test.pool, { recipients: 300, messagesPerSecond: 300 });
    await hold(held, 240);
    const provider = createFakeProvider();
    const outside = { database: test.pool, provider, config: { outcomeGraceSeconds: 1 } };
    const [waiting, sending] = [createCrowd(outside), createCrowd(outside)];
    const beganAt = performance.now();
    for (const campaign of [held, ...others]) void waiting.drive(campaign);
    await expectHere.poll(waiting.steps).toBeGreaterThanOrEqual(10);
    // The others would keep it waiting for four minutes.
    await sending.drive(healthy);
    const seconds = (performance.now() - beganAt) / 1_000;
    // Together they ask twice a second.
    expect(waiting.steps()).toBeLessThanOrEqual(10 + 2 * seconds + 5);
    await Promise.all([waiting.stop(), sending.stop()]);
    expect(provider.received).toHaveLength(300);
    for (const campaign of [held, ...others]) {
      expect(await countsOf(campaign)).toMatchObject({ pending: 500, claimed: 0, unknown: 0 });
    }
    expect((await checkBooks(test.pool, held)).reserved).toBe(0n);
  });
});

/** Ends all waits of the campaign and its channel. */
const passWaits = ({ channelId, campaignId }: SeededCampaign) =>
  Promise.all([
    test.pool.query(sql.type(nothing)`
      UPDATE channel_rate SET open_until = clock_timestamp(), probed_at = probed_at - interval '1 minute'
      WHERE channel_id = ${channelId}`),
    test.pool.query(sql.type(nothing)`
      UPDATE recipient_retry SET not_before = now() WHERE campaign_id = ${campaignId}`),
  ]);

describe.concurrent('an outage of an hour', () => {
  const waiting = 65;
  const outage = async (answer: Answer) => {
    const recipients = 300;
    const seeded = await seedCampaign(test.pool, { recipients, messagesPerSecond: 80 });
    let isOver = false;
    const provider = createFakeProvider(async (message, count) => {
      await sleep(20);
      return (isOver ? accept : answer)(message, count);
    });
    const dependencies = sendingDependencies({ database: test.pool, provider });
    const steps = async () => {
      const options = { budgetMs: 10_000, draining: () => false };
      const results = await Promise.all(
        [1, 2].map(() => runSendStep(dependencies, seeded.campaignId, options)),
      );
      await passWaits(seeded);
      return results;
    };
    for (let ended = 0; ended < waiting; ended += 1) await steps();
    const during = { ...(await countsOf(seeded)), asked: provider.received.length };
    isOver = true;
    while (!(await steps()).some(({ drained }) => drained));
    return { during, after: await countsOf(seeded), recipients, books: await checkBooks(test.pool, seeded) };
  };

  it('does not fail a recipient for a rejection that says "later"', async () => {
    const { during, after, recipients, books } = await outage(refuse(131000));
    expect(during.asked).toBeGreaterThan(waiting);
    expect(after).toMatchObject({ accepted: recipients, failed: 0, unknown: 0, pending: 0 });
    expect(books).toMatchObject({ counters_fit: true, reserved: 0n });
  }, 600_000);

  it('of a gateway leaves at most a hundred UNKNOWN, and fails no recipient', async () => {
    const { during, after, recipients, books } = await outage(() => ({ kind: 'unknown', cause: 'HTTP 502' }));
    expect(during.unknown).toBeLessThanOrEqual(100);
    expect(after).toMatchObject({ failed: 0, pending: 0, accepted: recipients - after.unknown });
    expect(books.counters_fit).toBe(true);
  }, 600_000);
});

/** Runs steps until the campaign is drained, without its waits; at most `mostSteps`. */
async function drain(seeded: SeededCampaign, answer: Answer, mostSteps: number): Promise<number> {
  const dependencies = sendingDependencies({ database: test.pool, provider: createFakeProvider(answer) });
  for (let steps = 1; steps <= mostSteps; steps += 1) {
    const options = { budgetMs: 10_000, draining: () => false };
    const { drained } = await runSendStep(dependencies, seeded.campaignId, options);
    if (drained) return steps;
    await passWaits(seeded);
  }
  return Infinity;
}

describe.concurrent('recipients that the provider always answers with "later"', () => {
  it('do not keep the campaign from its other recipients, and fail after their attempts', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 200, messagesPerSecond: 200 });
    // At the end only these are left: thirty failures in a row would pause the campaign.
    await test.pool.query(sql.type(nothing)`
      UPDATE workspace SET failure_brake = 'off' WHERE id = ${seeded.workspaceId}`);
    const answer: Answer = (message, count) =>
      (Number(message.to.slice(-4)) <= 48 ? refuse(131000) : accept)(message, count);
    expect(await drain(seeded, answer, 300)).toBeLessThan(300);
    expect(await countsOf(seeded)).toMatchObject({ accepted: 152, failed: 48, pending: 0 });
  }, 60_000);

  it('end as FAILED when the campaign has no others', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 20, messagesPerSecond: 80 });
    expect(await drain(seeded, refuse(131000), 150)).toBeLessThan(150);
    expect(await countsOf(seeded)).toMatchObject({ failed: 20, pending: 0 });
  }, 60_000);

  it('wait for minutes after a probe, so that an outage of an hour uses up nobody’s attempts', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 1, messagesPerSecond: 80 });
    await openCircuit(seeded);
    const waits = [];
    for (let probes = 0; probes < 4; probes += 1) {
      await passWaits(seeded);
      const answer = refuse(131000);
      const dependencies = sendingDependencies({ database: test.pool, provider: createFakeProvider(answer) });
      await runSendStep(dependencies, seeded.campaignId, { budgetMs: 10_000, draining: () => false });
      waits.push(await retryWaitMinutes(seeded));
    }
    expect(waits).toEqual([1, 4, 16, 64]);
  });

  it('cost no attempt when a gateway refuses the probe in place of the provider', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 1, messagesPerSecond: 80 });
    await openCircuit(seeded);
    const busy: Answer = () => ({
      kind: 'rejected',
      code: 503,
      httpStatus: 503,
      message: 'busy',
      details: null,
      isTransient: false,
    });
    expect(await drain(seeded, busy, 12)).toBe(Infinity);
    expect(await countsOf(seeded)).toMatchObject({ failed: 0, pending: 1 });
  });
});

const openCircuit = ({ channelId }: SeededCampaign) =>
  recordAnswers(test.pool, { channelId, succeeded: false, failures: 10, isProbe: false });

const retryWaitMinutes = ({ campaignId }: SeededCampaign) =>
  test.pool.oneFirst(sql.type(row(t.type({ minutes: t.number })))`
    SELECT round(extract(epoch FROM not_before - now()) / 60)::int AS minutes
    FROM recipient_retry WHERE campaign_id = ${campaignId}`);

describe.concurrent('a single send', () => {
  it('closes the circuit of its channel when the provider accepts it', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 2, messagesPerSecond: 80 });
    await openCircuit(seeded);
    const { workspaceId, channelId, templateId } = seeded;
    const [channel, template] = await Promise.all([
      getChannel(test.pool, workspaceId, channelId),
      getTemplate(test.pool, workspaceId, templateId),
    ]);
    await sendSingleMessage(sendingDependencies({ database: test.pool, provider: createFakeProvider() }), {
      channel,
      template,
      components: [],
      recipient: { to: '4915100009999', country: 'DE' },
      source: 'api',
      campaignId: null,
    });
    expect(await drain(seeded, accept, 1)).toBe(1);
  });
});

describe.concurrent('a provider that hangs', () => {
  it('has few unanswered messages, and the others are released', async ({ expect: expectHere }) => {
    const seeded = await seedCampaign(test.pool, { recipients: 2_000, messagesPerSecond: 80 });
    const [timeLimit, reachTimeLimit] = aSignal();
    const provider = createFakeProvider(async (message, count) => {
      if (count <= 200) {
        await sleep(25);
        return accept(message, count);
      }
      await timeLimit;
      return { kind: 'unknown', cause: 'timeout' };
    });
    const crowd = createCrowd({ database: test.pool, provider });
    void crowd.drive(seeded);
    void crowd.drive(seeded);
    // `expect.poll` of the module does not know its test while others run.
    await expectHere.poll(() => provider.received.length).toBeGreaterThan(200);
    let sent = 0;
    const stands = async () => {
      const before = sent;
      sent = provider.received.length;
      return sent - before;
    };
    await expectHere.poll(stands, { interval: 1_500 }).toBe(0);
    // Some 20 on a quiet machine, more while answers seem slow because the process was stalled; without a limit all of them.
    expect(sent - 200).toBeLessThanOrEqual(200);
    reachTimeLimit();
    await crowd.stop();
    const { unknown, claimed } = await countsOf(seeded);
    expect(unknown).toBeGreaterThan(0);
    expect(claimed).toBe(0);
  });
});
