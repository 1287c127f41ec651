import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { campaignWorkflowId } from '../../../src/workflows/contract.ts';
import { messagePrice, seedCampaign } from '../../support/campaign-factory.ts';
import { createCampaignFixture, until } from '../../support/campaign-fixture.ts';
import { bundleWorkflows, startTemporal } from '../../support/temporal.ts';
import { createDoctorFixture, untilQuiet, type DoctorFixture } from './doctor-fixture.ts';

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

  it('pauses a campaign that goes on although its workflow has completed', async () => {
    const { campaignId, start, withWorker, snapshot, provider, result } = await fixture({ recipients: 9 });
    await withWorker(async () => {
      await start();
      await result();
    });
    await doctorFixture.run(
      sql.fragment`UPDATE campaign SET status = 'RUNNING', completed_at = NULL WHERE id = ${campaignId}`,
    );
    const { kinds, problems, left } = await doctorFixture.repairAbout([campaignId]);
    expect({ kinds, problems }).toEqual({ kinds: ['record-behind-workflow'], problems: [] });
    expect(await snapshot()).toMatchObject({ status: 'PAUSED', pauseReason: 'RECORD_RESTORED' });
    // Not repaired: only the operator knows the time of the backup.
    expect(left).toEqual(['record-behind-workflow']);
    expect(provider.received).toHaveLength(9);
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
