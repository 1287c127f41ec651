import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { pauseCampaign, startCampaignAgain } from '../../../src/commands/campaigns/change-campaign.ts';
import { applyWaitingOptOuts } from '../../../src/commands/callbacks/change-subscription.ts';
import { runSendStep } from '../../../src/commands/sending/run-send-step.ts';
import { settleCampaign } from '../../../src/commands/campaigns/settle-campaign.ts';
import { loadConfig } from '../../../src/config.ts';
import type { Logger } from '../../../src/telemetry/logger.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import type { Dependencies } from '../../../src/dependencies.ts';
import type { Orchestrator } from '../../../src/orchestrator/orchestrator.ts';
import { getCampaignSnapshot } from '../../../src/records/campaigns/campaign-snapshot.ts';
import type { Database } from '../../../src/records/database/database.ts';
import { nothing, row } from '../../../src/records/database/row.ts';
import { releaseSlot, acquireSlot } from '../../../src/records/sending/send-slots.ts';
import {
  checkBooks,
  messagePrice,
  seedCampaign,
  testSecrets,
  type SeededCampaign,
} from '../../support/campaign-factory.ts';
import { connectLockHolder } from '../../support/lock-holder.ts';
import { aSignal } from '../../support/a-signal.ts';
import { seedOnChannel } from '../../support/sending-crowd.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { accept, createFakeProvider, refuse, type FakeProvider } from '../../support/fake-provider.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase({ poolSize: 8 });
});
afterAll(() => test.drop());

const config = loadConfig({
  DATABASE_URL: 'postgres://unused',
  TEMPORAL_ADDRESS: 'unused',
  PROVIDER_BASE_URL: 'http://unused/v1',
  PROVIDER_APP_SECRET: 'unused-secret-of-tests',
  PROVIDER_VERIFY_TOKEN: 'unused',
  KEY_PEPPER: 'unused-pepper-of-tests',
  SECRETS_KEY: 'unused-secrets-key-of-tests',
});

function dependenciesWith(provider: FakeProvider) {
  const orchestrator = { startCampaign: async () => undefined, refreshCampaign: async () => true };
  return {
    config,
    database: test.pool,
    provider,
    secrets: testSecrets,
    logger: pino({ level: 'silent' }) as unknown as Logger,
    orchestrator: orchestrator as unknown as Orchestrator,
    metrics: createMetrics('test'),
    now: () => new Date(),
    outbound: {} as Dependencies['outbound'],
    storage: {} as Dependencies['storage'],
  };
}

const onChannelOf = (first: SeededCampaign, count: number) =>
  Promise.all(Array.from({ length: count }, () => seedOnChannel(test.pool, first, { recipients: 2 })));

// The tests end their steps by what they send, not by the time, which is enough for any machine.
const calm = { budgetMs: 60_000, draining: () => false };

describe('runSendStep', () => {
  it('with `singleBatch`, tries for 300 ms to acquire a slot and does not join the wait queue', async () => {
    const first = await seedCampaign(test.pool, { recipients: 2, messagesPerSecond: 80 });
    const busy = [first, ...(await onChannelOf(first, 3))];
    const [refused, patient] = await onChannelOf(first, 2);
    const slots = await Promise.all(
      busy.map(async ({ campaignId }) => {
        const slot = { ...first, campaignId, stepId: randomUUID() };
        const answer = await acquireSlot(test.pool, slot);
        if (answer.kind !== 'acquired') throw new Error(answer.kind);
        return { ...slot, slotNumber: answer.slotNumber };
      }),
    );
    const provider = createFakeProvider();
    const dependencies = dependenciesWith(provider);
    const send = (campaign: typeof first | undefined) =>
      runSendStep(dependencies, campaign?.campaignId ?? '', { ...calm, singleBatch: true });

    expect(await send(refused)).toMatchObject({ drained: false });
    expect(provider.received).toEqual([]);

    // The slots are released after its first request. The clock stands still meanwhile, so that the 300 ms cannot pass.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    let answers = 0;
    const maybeOne = async (query: Parameters<Database['maybeOne']>[0]) => {
      const answer: unknown = await test.pool.maybeOne(query);
      answers += query.sql.includes('WITH asking AS') ? 1 : 0;
      if (answers === 1 && slots.length > 0) {
        for (const slot of slots.splice(0)) expect(await releaseSlot(test.pool, slot)).toBeNull();
      } else if (answers === 2) clock.mockRestore();
      return answer;
    };
    const database = { ...test.pool, maybeOne } as Database;
    const options = { ...calm, singleBatch: true };
    expect(
      await runSendStep({ ...dependencies, database }, patient?.campaignId ?? '', options),
    ).toMatchObject({ drained: true });
    expect(answers).toBeGreaterThan(1);
    expect(provider.received).toHaveLength(2);
  });

  it('leaves a campaign in the wait queue whose signal failed', async () => {
    const first = await seedCampaign(test.pool, { recipients: 30, messagesPerSecond: 80 });
    const next = await seedOnChannel(test.pool, first, { recipients: 30 });
    const [asked, ask] = aSignal();
    const [opened, open] = aSignal();
    const provider = createFakeProvider(async (message, count) => {
      ask();
      await opened;
      return accept(message, count);
    });
    const dependencies = dependenciesWith(provider);
    const signalled: string[] = [];
    const orchestrator = {
      ...dependencies.orchestrator,
      refreshCampaign: (campaignId: string) => {
        signalled.push(campaignId);
        return Promise.reject(new Error('Temporal is away'));
      },
    };
    const sending = runSendStep({ ...dependencies, orchestrator }, first.campaignId, calm);
    await asked;
    expect(await acquireSlot(test.pool, { ...next, stepId: randomUUID() })).toMatchObject({ kind: 'busy' });
    open();
    expect(await sending).toMatchObject({ drained: true });
    expect(signalled).toContain(next.campaignId);
    const waiting = await test.pool.oneFirst(sql.type(row(t.type({ waiting: t.boolean })))`
      SELECT waiting FROM slot_queue WHERE campaign_id = ${next.campaignId}`);
    expect(waiting).toBe(true);
  });

  it('releases its slot when a claim fails, so that the next step need not wait for the lease', async () => {
    const campaign = await seedCampaign(test.pool, { recipients: 30, messagesPerSecond: 80 });
    const dependencies = dependenciesWith(createFakeProvider());
    const database = new Proxy(test.pool, {
      get: (pool, name) =>
        name === 'maybeOne'
          ? (query: Parameters<Database['maybeOne']>[0]) =>
              query.sql.includes('affordable')
                ? Promise.reject(new Error('connection lost'))
                : pool.maybeOne(query)
          : Reflect.get(pool, name),
    });
    await expect(runSendStep({ ...dependencies, database }, campaign.campaignId, calm)).rejects.toThrow(
      'connection lost',
    );
    expect(await runSendStep(dependencies, campaign.campaignId, calm)).toMatchObject({ drained: true });
  });

  it('sends to every recipient once, with the frozen values, and the campaign completes', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 1_200 });
    const provider = createFakeProvider();
    const dependencies = dependenciesWith(provider);
    const steps = await Promise.all([
      runSendStep(dependencies, seeded.campaignId, calm),
      runSendStep(dependencies, seeded.campaignId, calm),
    ]);
    expect(steps.some(({ drained }) => drained)).toBe(true);
    expect(new Set(provider.received.map(({ callbackData }) => callbackData)).size).toBe(1_200);
    expect(provider.received).toHaveLength(1_200);
    expect(await settleCampaign(dependencies, seeded.campaignId)).toBe(0);
    expect(await getCampaignSnapshot(test.pool, seeded.campaignId)).toMatchObject({
      status: 'COMPLETED',
      counts: { accepted: 1_200, pending: 0, claimed: 0 },
    });
    const books = await checkBooks(test.pool, seeded);
    expect(books).toMatchObject({
      reserved: 0n,
      ledger: 1_000_000_000n - messagePrice * 1_200n,
      counters_fit: true,
    });
  });

  it('pauses after exactly the messages the wallet covers', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 900, balance: messagePrice * 613n });
    const provider = createFakeProvider();
    await Promise.all([
      runSendStep(dependenciesWith(provider), seeded.campaignId, calm),
      runSendStep(dependenciesWith(provider), seeded.campaignId, calm),
    ]);
    expect(provider.received).toHaveLength(613);
    expect(await getCampaignSnapshot(test.pool, seeded.campaignId)).toMatchObject({
      status: 'PAUSED',
      pauseReason: 'INSUFFICIENT_BALANCE',
    });
    expect(await checkBooks(test.pool, seeded)).toMatchObject({ balance: 0n, reserved: 0n, ledger: 0n });
  });

  it('spends the released prices of rejected messages before it pauses for the balance', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 40, balance: messagePrice * 20n });
    const provider = createFakeProvider((message, count) =>
      count % 2 === 0 ? accept(message, count) : refuse(131026)(message, count),
    );
    await runSendStep(dependenciesWith(provider), seeded.campaignId, calm);
    expect(provider.received).toHaveLength(40);
    expect(await getCampaignSnapshot(test.pool, seeded.campaignId)).toMatchObject({
      status: 'RUNNING',
      counts: { accepted: 20, failed: 20 },
    });
  });

  it('sends to every recipient although the answer to a claim was lost after its commit', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 200, messagesPerSecond: 400 });
    const provider = createFakeProvider();
    let claims = 0;
    const maybeOne = async (query: Parameters<Database['maybeOne']>[0]) => {
      const answer: unknown = await test.pool.maybeOne(query);
      claims += query.sql.includes('campaign_claim') ? 1 : 0;
      if (claims === 3) throw new Error('The connection was lost');
      return answer;
    };
    const dependencies = dependenciesWith(provider);
    const database = { ...test.pool, maybeOne } as Database;
    await expect(runSendStep({ ...dependencies, database }, seeded.campaignId, calm)).rejects.toThrow('lost');
    const { counts } = await getCampaignSnapshot(test.pool, seeded.campaignId);
    expect(counts).toMatchObject({ claimed: 0, pending: 200 - provider.received.length });
    while (!(await runSendStep(dependencies, seeded.campaignId, calm)).drained) await sleep(20);
    expect(await settleCampaign(dependencies, seeded.campaignId)).toBe(0);
    expect(await getCampaignSnapshot(test.pool, seeded.campaignId)).toMatchObject({
      status: 'COMPLETED',
      counts: { accepted: 200, unknown: 0, claimed: 0 },
    });
    expect(provider.received).toHaveLength(200);
    expect((await checkBooks(test.pool, seeded)).reserved).toBe(0n);
  });

  it('claims nothing after a pause, and releases what has not been sent', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 500, messagesPerSecond: 100 });
    const provider = createFakeProvider();
    const dependencies = dependenciesWith(provider);
    const step = runSendStep(dependencies, seeded.campaignId, calm);
    await expect.poll(() => provider.received.length).toBeGreaterThan(20);
    await pauseCampaign(dependencies, seeded);
    // A claim that began before the pause may commit after it. Such a claim has locked the counter: FOR UPDATE waits for it.
    const claimedPosition = await test.pool.oneFirst(sql.type(row(t.type({ position: t.number })))`
      SELECT claimed_position AS position FROM campaign_counter WHERE campaign_id = ${seeded.campaignId} FOR UPDATE`);
    await step;
    expect(provider.received.length).toBeLessThanOrEqual(claimedPosition);
    expect(claimedPosition).toBeLessThan(500);
    const { counts } = await getCampaignSnapshot(test.pool, seeded.campaignId);
    expect(counts).toMatchObject({ claimed: 0, accepted: provider.received.length });
    expect(counts.pending).toBe(500 - provider.received.length);
    expect((await checkBooks(test.pool, seeded)).reserved).toBe(0n);
  });

  it('pauses every campaign of a template that the provider paused, and keeps the recipient', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 10 });
    await runSendStep(dependenciesWith(createFakeProvider(refuse(132015))), seeded.campaignId, calm);
    expect(await getCampaignSnapshot(test.pool, seeded.campaignId)).toMatchObject({
      status: 'PAUSED',
      pauseReason: 'TEMPLATE_UNAVAILABLE',
      counts: { pending: 10, failed: 0, claimed: 0 },
    });
  });

  it('pauses when the first messages are malformed alike, and keeps the rest', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 900, messagesPerSecond: 100 });
    const provider = createFakeProvider(refuse(132012));
    const dependencies = dependenciesWith(provider);
    await runSendStep(dependencies, seeded.campaignId, calm);
    const snapshot = await getCampaignSnapshot(test.pool, seeded.campaignId);
    expect(snapshot).toMatchObject({ status: 'PAUSED', pauseReason: 'FAILURES' });
    expect(snapshot.counts.failed).toBeGreaterThanOrEqual(15);
    expect(snapshot.counts.failed).toBeLessThan(300);
    expect(snapshot.counts).toMatchObject({ claimed: 0, pending: 900 - snapshot.counts.failed });
    expect((await checkBooks(test.pool, seeded)).reserved).toBe(0n);
  });

  it('pauses when a gateway in place of the provider refuses every message', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 400, messagesPerSecond: 200 });
    const statuses = [400, 405, 413, 422];
    const provider = createFakeProvider((_message, count) => {
      const httpStatus = statuses[count % 4] ?? 400;
      return {
        kind: 'rejected',
        code: httpStatus,
        httpStatus,
        message: '',
        details: null,
        isTransient: false,
      };
    });
    const dependencies = dependenciesWith(provider);
    for (let steps = 0; steps < 20; steps += 1)
      await runSendStep(dependencies, seeded.campaignId, { ...calm, budgetMs: 200 });
    const snapshot = await getCampaignSnapshot(test.pool, seeded.campaignId);
    expect(snapshot).toMatchObject({ status: 'PAUSED', pauseReason: 'FAILURES' });
    expect(snapshot.counts.failed).toBeLessThan(400);
  });

  it('releases its slot although an outcome can never be recorded', async () => {
    const first = await seedCampaign(test.pool, { recipients: 30, messagesPerSecond: 80 });
    const next = await seedOnChannel(test.pool, first, { recipients: 30 });
    const dependencies = dependenciesWith(createFakeProvider());
    let isRefused = true;
    const query = (statement: Parameters<Database['query']>[0]) =>
      isRefused && statement.sql.includes('by_position')
        ? Promise.reject(new Error('violates check constraint'))
        : test.pool.query(statement);
    const stuck = runSendStep(
      { ...dependencies, database: { ...test.pool, query } as Database },
      first.campaignId,
      { budgetMs: 1_000, draining: () => false },
    );
    await expect
      .poll(async () => (await runSendStep(dependencies, next.campaignId, calm)).drained, { timeout: 20_000 })
      .toBe(true);
    isRefused = false;
    await stuck;
    const { counts } = await getCampaignSnapshot(test.pool, first.campaignId);
    expect(counts).toMatchObject({ claimed: 0, unknown: 0, accepted: 30 - counts.pending });
    expect(counts.accepted).toBeGreaterThan(0);
  }, 30_000);

  it('counts failures across short steps, and leaves out their reason after a start by force', async () => {
    const { campaignId } = await seedCampaign(test.pool, { recipients: 400, messagesPerSecond: 20 });
    const dependencies = dependenciesWith(createFakeProvider(refuse(132012)));
    const runShortStep = async () => {
      await runSendStep(dependencies, campaignId, { budgetMs: 300, draining: () => false });
      return getCampaignSnapshot(test.pool, campaignId);
    };
    let snapshot = await runShortStep();
    expect(snapshot).toMatchObject({ status: 'RUNNING' });
    while (snapshot.status === 'RUNNING' && snapshot.counts.pending > 0) snapshot = await runShortStep();
    expect(snapshot).toMatchObject({ status: 'PAUSED', pauseReason: 'FAILURES' });
    expect(snapshot.counts.failed).toBeGreaterThanOrEqual(15);
    expect(snapshot.counts.failed).toBeLessThan(60);
    await startCampaignAgain(dependencies, { campaignId, isForced: true });
    await test.pool.query(sql.type(nothing)`UPDATE channel SET messages_per_second = 1000`);
    while (snapshot.counts.pending > 0) {
      snapshot = await runShortStep();
      expect(snapshot).toMatchObject({ status: 'RUNNING' });
    }
  });

  it('continues when the provider accepts most of the messages', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 400 });
    const provider = createFakeProvider((message, count) =>
      count % 4 === 0 ? refuse(131009)(message, count) : accept(message, count),
    );
    await runSendStep(dependenciesWith(provider), seeded.campaignId, calm);
    expect(await getCampaignSnapshot(test.pool, seeded.campaignId)).toMatchObject({
      status: 'RUNNING',
      counts: { accepted: 300, failed: 100 },
    });
  });

  it('never sends again to a contact whose opt-out the provider reported in a rejection', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 1 });
    await test.pool.query(sql.type(nothing)`
      INSERT INTO contact (workspace_id, phone_number, country_code, source)
      SELECT ${seeded.workspaceId}, phone_number, '49', 'csv_import' FROM recipient
      WHERE campaign_id = ${seeded.campaignId}`);
    await runSendStep(dependenciesWith(createFakeProvider(refuse(131050))), seeded.campaignId, calm);
    await applyWaitingOptOuts({ database: test.pool, now: () => new Date() });
    const subscribed = await test.pool.oneFirst(sql.type(row(t.type({ subscribed: t.boolean })))`
      SELECT subscribed FROM contact WHERE workspace_id = ${seeded.workspaceId}`);
    expect(subscribed).toBe(false);
  });

  it('keeps every recipient PENDING while the provider cannot be reached', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 30 });
    const provider = createFakeProvider(() => ({ kind: 'unreachable', cause: 'ECONNREFUSED' }));
    const step = await runSendStep(dependenciesWith(provider), seeded.campaignId, calm);
    expect(step).toMatchObject({ drained: false });
    expect(step.waitMs).toBeGreaterThan(0);
    expect(await getCampaignSnapshot(test.pool, seeded.campaignId)).toMatchObject({
      status: 'RUNNING',
      counts: { pending: 30, claimed: 0 },
    });
  });

  it('marks a recipient of unknown outcome UNKNOWN, keeps the reservation and never sends again', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 3 });
    const provider = createFakeProvider((message, count) =>
      count === 2 ? { kind: 'unknown', cause: 'timed out' } : accept(message, count),
    );
    const dependencies = dependenciesWith(provider);
    await runSendStep(dependencies, seeded.campaignId, calm);
    await runSendStep(dependencies, seeded.campaignId, calm);
    await settleCampaign(dependencies, seeded.campaignId);
    expect(provider.received).toHaveLength(3);
    expect(await getCampaignSnapshot(test.pool, seeded.campaignId)).toMatchObject({
      status: 'COMPLETED',
      counts: { accepted: 2, unknown: 1 },
    });
    expect((await checkBooks(test.pool, seeded)).reserved).toBe(messagePrice);
  });

  it('tries a throttled message again at half the rate without counting the attempt', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 2 });
    const provider = createFakeProvider((message, count) =>
      count === 1 ? refuse(130429)(message, count) : accept(message, count),
    );
    const dependencies = dependenciesWith(provider);
    await runSendStep(dependencies, seeded.campaignId, calm);
    await runSendStep(dependencies, seeded.campaignId, calm);
    expect(provider.received).toHaveLength(3);
    const factor = await test.pool.oneFirst(sql.type(row(t.type({ factor: t.number })))`
      SELECT factor FROM channel_rate WHERE channel_id = ${seeded.channelId}`);
    expect(factor).toBeLessThan(0.6);
    expect(await getCampaignSnapshot(test.pool, seeded.campaignId)).toMatchObject({
      counts: { accepted: 2 },
    });
  });
});

describe('a step that waits for a lock', () => {
  it('ends without an error, and leaves the slot to the other campaigns of its channel', async () => {
    const seeded = await seedCampaign(test.pool, { recipients: 5 });
    const other = await seedOnChannel(test.pool, seeded, { recipients: 5 });
    const dependencies = dependenciesWith(createFakeProvider());
    const locks = await connectLockHolder(test.ownerUrl);
    await locks.hold('SELECT FROM campaign_counter WHERE campaign_id = $1 FOR UPDATE', [seeded.campaignId]);
    const step = { budgetMs: 5_000, draining: () => false };
    expect(await runSendStep(dependencies, seeded.campaignId, step)).toMatchObject({
      drained: false,
      waitMs: 1_100,
    });
    expect(await runSendStep(dependencies, other.campaignId, step)).toMatchObject({ drained: true });
    await locks.release();
    await locks.end();
    expect(await runSendStep(dependencies, seeded.campaignId, step)).toMatchObject({ drained: true });
  }, 180_000);
});

it('pauses a campaign that runs although its channel is blocked, and sends nothing', async () => {
  const seeded = await seedCampaign(test.pool, { recipients: 5 });
  await test.pool.query(
    sql.type(nothing)`UPDATE channel SET status = 'blocked' WHERE id = ${seeded.channelId}`,
  );
  const provider = createFakeProvider();
  await runSendStep(dependenciesWith(provider), seeded.campaignId, {
    budgetMs: 5_000,
    draining: () => false,
  });
  expect(provider.received).toEqual([]);
  expect(await getCampaignSnapshot(test.pool, seeded.campaignId)).toMatchObject({
    status: 'PAUSED',
    pauseReason: 'CHANNEL_BLOCKED',
  });
});
