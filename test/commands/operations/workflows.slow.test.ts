import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  campaignWorkflowId,
  taskQueues,
  templateSyncScheduleId,
  webhookDeliveryWorkflowId,
} from '../../../src/workflows/contract.ts';
import { recountCampaign, requeueStranded } from '../../../src/records/operations/doctor-repairs.ts';
import { correctLedger, correctReservations } from '../../../src/records/operations/doctor-wallets.ts';
import { checkBooks, messagePrice, seedCampaign } from '../../support/campaign-factory.ts';
import { createCampaignFixture, until } from '../../support/campaign-fixture.ts';
import { bundleWorkflows, startTemporal } from '../../support/temporal.ts';
import { createDoctorFixture, seedDelivery, untilQuiet, type DoctorFixture } from './doctor-fixture.ts';

let temporal: TestWorkflowEnvironment;
let workflowBundle: WorkflowBundleWithSourceMap;
let doctorFixture: DoctorFixture;

beforeAll(async () => {
  [temporal, workflowBundle] = await Promise.all([startTemporal(), bundleWorkflows()]);
});
afterAll(() => temporal?.teardown());
beforeEach(async () => {
  doctorFixture = await createDoctorFixture(temporal);
});
afterEach(() => doctorFixture.drop());

const fixture = (seed: Parameters<typeof createCampaignFixture>[1]) =>
  createCampaignFixture({ database: doctorFixture.pool, temporal, workflowBundle }, seed);
const stateOf = async (workflowId: string) =>
  (await doctorFixture.doctor.workflows.describe(workflowId)).state;
const longAgo = sql.fragment`now() - interval '10 minutes'`;

describe('campaigns and their workflows', () => {
  it('starts the workflow of a campaign that has none, or whose workflow was terminated', async () => {
    const { campaignId } = await seedCampaign(doctorFixture.pool, { recipients: 3, status: 'DRAFT' });
    for (let time = 0; time < 2; time += 1) {
      expect(await doctorFixture.repairAbout([campaignId])).toEqual({
        kinds: ['campaign-without-workflow'],
        problems: [],
        left: [],
      });
      expect(await stateOf(campaignWorkflowId(campaignId))).toBe('running');
      await temporal.client.workflow.getHandle(campaignWorkflowId(campaignId)).terminate();
    }
  });

  it('terminates the workflow of a campaign that has no record', async () => {
    const id = randomUUID();
    await doctorFixture.orchestrator.startCampaign({ id, workspaceId: 1001, name: 'Lost' });
    await until(async () => (await doctorFixture.findAbout([id])).length > 0);
    expect(await doctorFixture.repairAbout([id])).toEqual({
      kinds: ['workflow-without-campaign'],
      problems: [],
      left: [],
    });
    expect(await stateOf(campaignWorkflowId(id))).toBe('ended');
  });

  it('ends the workflow of a campaign that is over', async () => {
    const { campaignId, start, withWorker, result } = await fixture({ recipients: 3 });
    await start();
    await doctorFixture.run(
      sql.fragment`UPDATE campaign SET status = 'CANCELLED', updated_at = ${longAgo} WHERE id = ${campaignId}`,
    );
    await until(async () => (await doctorFixture.findAbout([campaignId])).length > 0);
    const { kinds, problems } = await doctorFixture.repairAbout([campaignId]);
    expect({ kinds, problems }).toEqual({ kinds: ['finished-campaign-with-workflow'], problems: [] });
    await withWorker(async () => expect(await result()).toMatchObject({ status: 'CANCELLED' }));
    expect(await doctorFixture.findAbout([campaignId])).toEqual([]);
  });

  it('wakes a workflow that missed a change of its record', async () => {
    const { campaignId, start, withWorker, progress, result } = await fixture({
      recipients: 3,
      balance: messagePrice,
    });
    await withWorker(async () => {
      await start();
      await until(async () => (await progress())?.status === 'PAUSED');
      await untilQuiet(doctorFixture, temporal, campaignId);
      await doctorFixture.run(sql.fragment`UPDATE campaign SET status = 'RUNNING', pause_reason = NULL, epoch = epoch + 1,
        updated_at = ${longAgo} WHERE id = ${campaignId}`);
      await doctorFixture.run(sql.fragment`UPDATE wallet SET balance = balance + 1000000`);
      await doctorFixture.run(sql.fragment`INSERT INTO ledger_entry (channel_id, workspace_id, kind, amount)
        SELECT channel_id, workspace_id, 'recharge', 1000000 FROM wallet`);
      const { kinds, problems } = await doctorFixture.repairAbout([campaignId]);
      expect({ kinds, problems }).toEqual({ kinds: ['workflow-behind-record'], problems: [] });
      expect(await result()).toMatchObject({ status: 'COMPLETED' });
    });
    expect(await doctorFixture.findAbout([campaignId])).toEqual([]);
  });

  it('pauses a campaign whose record is older than its workflow', async () => {
    const { campaignId, start, withWorker, snapshot, provider } = await fixture({
      recipients: 9,
      balance: messagePrice * 5n,
    });
    await withWorker(async () => {
      await start();
      await until(async () => (await snapshot()).status === 'PAUSED');
      await untilQuiet(doctorFixture, temporal, campaignId);
    });
    await doctorFixture.run(
      sql.fragment`UPDATE campaign SET status = 'RUNNING', pause_reason = NULL WHERE id = ${campaignId}`,
    );
    await doctorFixture.run(
      sql.fragment`UPDATE campaign_counter SET claimed_position = 0, accepted = 0, pending = 9`,
    );
    await doctorFixture.run(sql.fragment`UPDATE recipient SET state = 'PENDING', settlement = 'none'`);
    const { kinds, problems, left } = await doctorFixture.repairAbout([campaignId]);
    expect({ kinds, problems }).toEqual({ kinds: ['record-behind-workflow'], problems: [] });
    expect(await snapshot()).toMatchObject({ status: 'PAUSED', pauseReason: 'RECORD_RESTORED' });
    // Not repaired: only the operator knows the time of the backup.
    expect(left).toEqual(['record-behind-workflow']);
    expect(provider.received).toHaveLength(5);
  });

  it('finds nothing wrong with a campaign in the middle of its sending', async () => {
    const { campaignId, start, withWorker, snapshot, provider } = await fixture({
      recipients: 1_500,
      messagesPerSecond: 250,
    });
    const channelId = await doctorFixture.read(sql.fragment`SELECT channel_id FROM campaign`);
    let looks = 0;
    await withWorker(async () => {
      await start();
      await until(async () => provider.received.length > 100);
      while ((await snapshot()).status !== 'COMPLETED') {
        expect(await doctorFixture.findAbout([campaignId, channelId], 400)).toEqual([]);
        looks += 1;
      }
    });
    expect(looks).toBeGreaterThan(2);
    expect(await doctorFixture.findAbout([campaignId, channelId])).toEqual([]);
  });
});

it('repairs the books of a campaign that is being sent without disturbing them', async () => {
  const { campaignId, start, withWorker, snapshot, provider } = await fixture({
    recipients: 1_500,
    messagesPerSecond: 400,
  });
  const channelId = await doctorFixture.read(sql.fragment`SELECT channel_id FROM campaign`);
  let repairs = 0;
  await withWorker(async () => {
    await start();
    while ((await snapshot()).status !== 'COMPLETED') {
      await Promise.all([
        recountCampaign(doctorFixture.pool, campaignId),
        requeueStranded(doctorFixture.pool, campaignId),
        correctReservations(doctorFixture.pool, { channelId, campaignIds: [] }),
        correctLedger(doctorFixture.pool, channelId),
      ]);
      repairs += 1;
    }
  });
  expect(repairs).toBeGreaterThan(10);
  expect(new Set(provider.received).size).toBe(1_500);
  expect(provider.received).toHaveLength(1_500);
  expect(
    await doctorFixture.read(sql.fragment`SELECT count(*) FROM ledger_entry WHERE kind = 'correction'`),
  ).toBe('0');
  expect(
    await checkBooks(doctorFixture.pool, { campaignId, channelId, workspaceId: 0, templateId: '' }),
  ).toMatchObject({
    counters_fit: true,
    reserved: 0n,
    owed: 0n,
    balance: 1_000_000_000n - messagePrice * 1_500n,
    ledger: 1_000_000_000n - messagePrice * 1_500n,
  });
});

describe('deliveries and their workflows', () => {
  const dispatched = sql.fragment`'pending', ${longAgo}, NULL::timestamptz, ${longAgo}`;
  const readState = (id: string) =>
    doctorFixture.pool.one(
      sql.unsafe`SELECT state, error_code, dispatched_at IS NULL AS queued FROM webhook_delivery WHERE id = ${id}`,
    );

  it('puts a delivery back into the queue whose workflow was never started', async () => {
    const { workspaceId } = await seedCampaign(doctorFixture.pool, { recipients: 1 });
    const id = await seedDelivery(doctorFixture, workspaceId, dispatched);
    expect(await doctorFixture.repairAbout([id])).toEqual({
      kinds: ['delivery-without-workflow'],
      problems: [],
      left: [],
    });
    expect(await readState(id)).toEqual({ state: 'pending', error_code: null, queued: true });
  });

  it.each([
    ['delivered', { state: 'delivered', error_code: null }],
    ['failed: non_2xx', { state: 'failed', error_code: 'non_2xx' }],
    ['not pending', { state: 'failed', error_code: 'interrupted' }],
  ])('records what the workflow of a delivery ended with: %s', async (result, expected) => {
    const { workspaceId } = await seedCampaign(doctorFixture.pool, { recipients: 1 });
    const id = await seedDelivery(doctorFixture, workspaceId, dispatched);
    const worker = await Worker.create({
      connection: temporal.nativeConnection,
      taskQueue: taskQueues.webhooks,
      workflowBundle,
      activities: { deliverWebhook: () => Promise.resolve(result) },
    });
    await worker.runUntil(async () => {
      await doctorFixture.orchestrator.startWebhookDelivery(id);
      await temporal.client.workflow.getHandle(webhookDeliveryWorkflowId(id)).result();
    });
    expect(await doctorFixture.repairAbout([id])).toEqual({
      kinds: ['delivery-without-workflow'],
      problems: [],
      left: [],
    });
    expect(await readState(id)).toMatchObject(expected);
  });

  it('marks a delivery interrupted whose workflow was terminated', async () => {
    const { workspaceId } = await seedCampaign(doctorFixture.pool, { recipients: 1 });
    const id = await seedDelivery(doctorFixture, workspaceId, dispatched);
    await doctorFixture.orchestrator.startWebhookDelivery(id);
    expect(await doctorFixture.findAbout([id])).toEqual([]);
    await temporal.client.workflow.getHandle(webhookDeliveryWorkflowId(id)).terminate();
    expect(await doctorFixture.repairAbout([id])).toEqual({
      kinds: ['delivery-without-workflow'],
      problems: [],
      left: [],
    });
    expect(await readState(id)).toMatchObject({ state: 'failed', error_code: 'interrupted' });
  });

  it('terminates the workflow of a delivery that has no row', async () => {
    const id = randomUUID();
    await doctorFixture.orchestrator.startWebhookDelivery(id);
    await until(async () => (await doctorFixture.findAbout([id])).length > 0);
    expect(await doctorFixture.repairAbout([id])).toEqual({
      kinds: ['delivery-workflow-without-row'],
      problems: [],
      left: [],
    });
    expect(await stateOf(webhookDeliveryWorkflowId(id))).toBe('ended');
  });
});

describe('schedules', () => {
  it('creates those that are missing and deletes those of accounts that are gone', async () => {
    await seedCampaign(doctorFixture.pool, { recipients: 1 });
    const account = await doctorFixture.read(sql.fragment`SELECT id FROM business_account`);
    const own = templateSyncScheduleId(account);
    const foreign = templateSyncScheduleId(randomUUID());
    await doctorFixture.orchestrator.scheduleTemplateSync({
      id: foreign.slice('template-sync-'.length),
      workspaceId: 1,
    });
    await until(async () => (await doctorFixture.doctor.workflows.scheduleIds()).has(foreign));
    const { kinds, problems } = await doctorFixture.repairAbout([own, foreign, 'retention']);
    expect(problems).toEqual([]);
    expect(kinds.toSorted()).toEqual(['schedule-missing', 'schedule-missing', 'schedule-without-account']);
    await until(async () => (await doctorFixture.findAbout([own, foreign, 'retention'])).length === 0);
    expect((await temporal.client.schedule.getHandle(own).describe()).action).toMatchObject({
      args: [{ businessAccountId: account }],
    });
  });
});
