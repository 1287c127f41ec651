import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import * as t from 'io-ts';
import { sql } from 'slonik';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  classifyProgress,
  viewWorkflows,
  type WorkflowView,
} from '../../../src/commands/operations/workflow-view.ts';
import { watchCampaigns } from '../../../src/commands/operations/watch-campaigns.ts';
import { createWorkerOrchestrator } from '../../../src/orchestrator/orchestrator.ts';
import { createSecretBox } from '../../../src/secrets.ts';
import { getCampaignReport } from '../../../src/records/campaigns/report.ts';
import { findCampaigns } from '../../../src/records/operations/doctor-campaigns.ts';
import { row } from '../../../src/records/database/row.ts';
import { countStandstills, suspectCampaigns } from '../../../src/records/operations/standstill.ts';
import type { Logger } from '../../../src/telemetry/logger.ts';
import { campaignWorkflowId } from '../../../src/workflows/contract.ts';
import { createCampaignFixture, until } from '../../support/campaign-fixture.ts';
import { bundleBrokenWorkflows, bundleWorkflows, startTemporal } from '../../support/temporal.ts';
import { createDoctorFixture, type DoctorFixture } from './doctor-fixture.ts';

let temporal: TestWorkflowEnvironment;
let workflowBundle: WorkflowBundleWithSourceMap;
let brokenBundle: WorkflowBundleWithSourceMap;
let doctorFixture: DoctorFixture;
let logged: string[];

beforeAll(async () => {
  [temporal, workflowBundle, brokenBundle] = await Promise.all([
    startTemporal(),
    bundleWorkflows(),
    bundleBrokenWorkflows(),
  ]);
});
afterAll(() => temporal?.teardown());
beforeEach(async () => {
  doctorFixture = await createDoctorFixture(temporal);
  logged = [];
});
afterEach(() => doctorFixture.drop());

const fixture = (seed: Parameters<typeof createCampaignFixture>[1]) =>
  createCampaignFixture({ database: doctorFixture.pool, temporal, workflowBundle }, seed);
const handleOf = (campaignId: string) => temporal.client.workflow.getHandle(campaignWorkflowId(campaignId));

/** Runs one check on a connection of its own, as a worker does. */
function check(change: Partial<WorkflowView> = {}): Promise<boolean> {
  const orchestrator = createWorkerOrchestrator(temporal.nativeConnection, temporal.namespace ?? 'default');
  const log = (_fields: object, message: string) => void logged.push(message);
  const logger = { warn: log, error: log } as unknown as Logger;
  return watchCampaigns({
    ...doctorFixture.doctor,
    orchestrator,
    workflows: { ...viewWorkflows(orchestrator), ...change },
    logger,
  });
}

const kinds = async () =>
  Object.fromEntries(
    (await countStandstills(doctorFixture.pool))?.map(({ kind, count }) => [kind, count]) ?? [],
  );

/** Runs checks until `reached` is true; moves the recorded times, so that each check is due at once. */
async function checkUntil(
  reached: () => Promise<boolean>,
  change: Partial<WorkflowView> = {},
): Promise<void> {
  await until(async () => {
    await doctorFixture.run(sql.fragment`UPDATE campaign_watch SET next_at = now()`);
    await doctorFixture.run(
      sql.fragment`UPDATE campaign_standstill SET looked_at = looked_at - interval '20 seconds'`,
    );
    await check(change);
    return reached();
  });
}

it('is done by one process at a time, and counts nothing once no process has done it for minutes', async () => {
  expect(await countStandstills(doctorFixture.pool)).toBeUndefined();
  expect(await Promise.all([check(), check(), check()])).toSatisfy(
    (turns: boolean[]) => turns.filter(Boolean).length === 1,
  );
  expect(await kinds()).toEqual({});
  await doctorFixture.run(sql.fragment`UPDATE campaign_watch SET looked_at = now() - interval '3 minutes'`);
  expect(await countStandstills(doctorFixture.pool)).toBeUndefined();
});

it('starts the workflow of a campaign again that was terminated in its sleep', async () => {
  const { campaignId, start } = await fixture({ recipients: 2, scheduledInMs: 3_600_000 });
  await start();
  await handleOf(campaignId).terminate();
  await checkUntil(async () => logged.includes('campaigns repaired'));
  expect((await handleOf(campaignId).describe()).status.name).toBe('RUNNING');
  await checkUntil(async () => (await kinds())['without_workflow'] === undefined);
  expect(logged.filter((message) => message === 'campaigns stand still')).toHaveLength(1);
  await handleOf(campaignId).terminate();
});

it.each([
  ['is still to be prepared', { unprepared: true, scheduledInMs: 3_600_000 }],
  ['is due in a minute', { scheduledInMs: 60_000 }],
])('starts the workflow of a scheduled campaign that Temporal has lost, when it %s', async (_, seed) => {
  const { campaignId } = await fixture({ recipients: 2, ...seed });
  await doctorFixture.run(
    sql.fragment`UPDATE campaign SET updated_at = now() - interval '1 minute' WHERE id = ${campaignId}`,
  );
  const later = await fixture({ recipients: 2, scheduledInMs: 3_600_000 });
  await checkUntil(async () => logged.includes('campaigns repaired'));
  expect((await handleOf(campaignId).describe()).status.name).toBe('RUNNING');
  await expect(handleOf(later.campaignId).describe()).rejects.toThrow('not found');
  await handleOf(campaignId).terminate();
});

it.each([
  ['scheduled', { scheduledInMs: 3_600_000 }],
  ['immediate', {}],
])('leaves a campaign alone that is %s and waits for its turn to start', async (_, seed) => {
  const { campaignId } = await fixture({ recipients: 2, unprepared: true, ...seed });
  await doctorFixture.run(
    sql.fragment`UPDATE campaign SET updated_at = now() - interval '1 minute' WHERE id = ${campaignId}`,
  );
  await doctorFixture.run(
    sql.fragment`INSERT INTO workflow_outbox (campaign_id, kind) VALUES (${campaignId}, 'start')`,
  );
  for (let checks = 0; checks < 2; checks += 1) {
    await doctorFixture.run(sql.fragment`UPDATE campaign_watch SET next_at = now()`);
    await check();
  }
  expect(logged).toEqual([]);
});

it('reports a due campaign whose workflow cannot continue, until it progresses', async () => {
  const { campaignId, start, withWorker, progress, result } = await fixture({
    recipients: 3,
    scheduledInMs: 4_000,
  });
  await withWorker(async () => {
    await start();
    await until(async () => (await progress()) !== null);
  });
  await withWorker(() => checkUntil(async () => (await kinds())['stuck'] === 1), {
    workflowBundle: brokenBundle,
  });
  expect(logged).toEqual(['campaigns stand still']);
  const find = (search: object) =>
    findCampaigns(doctorFixture.pool, {
      name: undefined,
      workspaceId: undefined,
      standingStill: false,
      ...search,
    });
  expect(await find({ standingStill: true })).toMatchObject([{ id: campaignId, stands_still: 'stuck' }]);
  const [{ name, workspace_id: workspaceId } = { name: '', workspace_id: 0 }] = await find({});
  const waitsFor = async () =>
    (await getCampaignReport(doctorFixture.pool, workspaceId, campaignId)).waiting_for;
  expect(await waitsFor()).toBe('WORKFLOW_STUCK');
  expect(await find({ name: name.slice(1).toUpperCase(), workspaceId })).toHaveLength(1);
  expect(await find({ name: `${name}%` })).toEqual([]);
  expect(await find({ workspaceId: workspaceId + 1 })).toEqual([]);
  expect(await doctorFixture.findAbout([campaignId])).toMatchObject([{ kind: 'workflow-stuck' }]);

  await withWorker(async () => {
    expect(await result()).toMatchObject({ status: 'COMPLETED', counts: { accepted: 3 } });
  });
  await checkUntil(async () => Object.keys(await kinds()).length === 0);
  expect(await waitsFor()).toBeNull();
});

it('begins a workflow anew that no worker has been able to replay for a minute', async () => {
  const { campaignId, start, withWorker, progress, result } = await fixture({
    recipients: 3,
    scheduledInMs: 4_000,
  });
  await withWorker(async () => {
    await start();
    await until(async () => (await progress()) !== null);
  });
  await withWorker(() => checkUntil(async () => (await kinds())['stuck'] === 1), {
    workflowBundle: brokenBundle,
  });
  const { runId } = await handleOf(campaignId).describe();
  await checkUntil(async () => (await kinds())['stuck'] === 1);
  expect((await handleOf(campaignId).describe()).runId).toBe(runId);

  const inTwoMinutes = viewWorkflows(doctorFixture.doctor.orchestrator, () => Date.now() + 120_000);
  await checkUntil(async () => logged.includes('campaigns repaired'), { describe: inTwoMinutes.describe });
  expect((await handleOf(campaignId).describe()).runId).not.toBe(runId);
  await withWorker(async () => {
    expect(await result()).toMatchObject({ status: 'COMPLETED', counts: { accepted: 3 } });
  });
});

it('names the step that fails again and again, and its failure', async () => {
  const { campaignId, start, withWorker } = await fixture({ recipients: 3, scheduledInMs: 1_000 });
  const foreign = createSecretBox(['another key, long enough for tests']);
  await doctorFixture.run(
    sql.fragment`UPDATE channel SET access_token_encrypted = ${sql.binary(foreign.encrypt('token', 'channel x'))}`,
  );
  await withWorker(async () => {
    await start();
    await checkUntil(async () => (await kinds())['failing'] === 1);
  });
  expect(logged).toEqual(['campaigns stand still']);
  expect(await doctorFixture.findAbout([campaignId])).toMatchObject([
    {
      kind: 'step-failing',
      meaning: expect.stringMatching(
        /^the campaign is RUNNING and its step \w+ has failed \d+ times: The secret’s key is neither in SECRETS_KEY/,
      ),
    },
  ]);
  const [{ workspace_id: workspaceId } = { workspace_id: 0 }] = await findCampaigns(doctorFixture.pool, {
    name: undefined,
    workspaceId: undefined,
    standingStill: true,
  });
  const { waiting_for: reason } = await getCampaignReport(doctorFixture.pool, workspaceId, campaignId);
  expect(reason).toBe('WORKFLOW_STUCK');
  await handleOf(campaignId).terminate();
});

it('lists overdue campaigns while no worker watches', async () => {
  const { campaignId } = await fixture({ recipients: 1, scheduledInMs: 3_600_000 });
  const search = { name: undefined, workspaceId: undefined, standingStill: true };
  expect(await findCampaigns(doctorFixture.pool, search)).toEqual([]);
  await doctorFixture.run(
    sql.fragment`UPDATE campaign SET scheduled_at = now() - interval '2 minutes' WHERE id = ${campaignId}`,
  );
  expect(await findCampaigns(doctorFixture.pool, search)).toMatchObject([
    { id: campaignId, stands_still: 'due' },
  ]);
  await doctorFixture.run(sql.fragment`UPDATE campaign SET status = 'CANCELLED' WHERE id = ${campaignId}`);
});

it('reports a campaign that waits for its channel only once the wait is over', async () => {
  const { campaignId } = await fixture({ recipients: 1, scheduledInMs: 3_600_000 });
  await doctorFixture.run(sql.fragment`UPDATE campaign SET status = 'RUNNING', preparation_status = 'READY',
    started_at = now() - interval '1 hour', updated_at = now() - interval '1 hour' WHERE id = ${campaignId}`);
  const kindNow = async () => {
    await suspectCampaigns(doctorFixture.pool);
    return doctorFixture.read(
      sql.fragment`SELECT kind FROM campaign_standstill WHERE campaign_id = ${campaignId}`,
    );
  };
  await doctorFixture.run(sql.fragment`UPDATE channel_rate SET silent_until = now() + interval '1 minute'`);
  expect(await kindNow()).toBe('waiting');
  await doctorFixture.run(sql.fragment`UPDATE campaign_standstill SET since = since - interval '1 hour'`);
  await doctorFixture.run(sql.fragment`UPDATE campaign_watch SET looked_at = now()`);
  expect(await kinds()).toEqual({});
  const search = { name: undefined, workspaceId: undefined, standingStill: true };
  expect(await findCampaigns(doctorFixture.pool, search)).toEqual([]);
  await doctorFixture.run(sql.fragment`UPDATE channel_rate SET silent_until = now()`);
  expect(await kindNow()).toBe('running');
  await doctorFixture.run(sql.fragment`UPDATE campaign_standstill SET since = since - interval '1 hour'`);
  expect(await kinds()).toEqual({ running: 1 });
});

it('records QUEUED for a backlog behind running workers, and logs nothing', async () => {
  const scheduledTime = { seconds: Math.floor(Date.now() / 1000) - 61 };
  const late = { pendingWorkflowTask: { attempt: 1, scheduledTime } } as unknown as Parameters<
    typeof classifyProgress
  >[0];
  const classify = (isPolled: boolean, described = late, isBusy = true) =>
    classifyProgress(described, {
      now: Date.now(),
      isPolled: async () => isPolled,
      isBusy: async () => isBusy,
      failsToReplay: async () => false,
    });
  expect(await classify(true)).toEqual({ queued: true });
  expect(await classify(true, late, false)).toEqual({ stuck: expect.stringContaining('to no worker') });
  expect(await classify(false)).toEqual({ stuck: expect.stringContaining('no worker') });
  const failing = { pendingWorkflowTask: { ...late.pendingWorkflowTask, attempt: 3 } } as typeof late;
  expect(await classify(true, failing)).toMatchObject({
    stuck: expect.stringContaining('has failed 2 times'),
  });
  const step = (state: number, type: string) =>
    ({
      pendingActivities: [
        {
          state,
          attempt: 9,
          activityType: { name: 'prepareCampaign' },
          lastFailure: { message: 'Enough', applicationFailureInfo: { type } },
        },
      ],
    }) as unknown as typeof late;
  const [scheduled, running] = [1, 2];
  expect(await classify(true, step(scheduled, 'NoPreparationSlot'))).toEqual({ queued: true });
  expect(await classify(true, step(running, 'NoPreparationSlot'))).toEqual({});
  expect(await classify(true, step(scheduled, 'Error'))).toEqual({
    failing: 'its step prepareCampaign has failed 8 times: Enough',
  });
  const campaigns = await Promise.all(
    [1, 2, 3].map(() => fixture({ recipients: 1, scheduledInMs: 3_600_000 })),
  );
  await doctorFixture.run(sql.fragment`UPDATE campaign SET scheduled_at = now() - interval '2 minutes'`);
  const poll = async (change: Partial<WorkflowView>) => {
    await doctorFixture.run(sql.fragment`UPDATE campaign_watch SET next_at = now()`);
    await doctorFixture.run(
      sql.fragment`UPDATE campaign_standstill SET looked_at = NULL, since = now() - interval '1 hour'`,
    );
    await check(change);
  };
  for (let time = 0; time < 2; time += 1)
    await poll({ describe: async () => ({ state: 'running', queued: true }) });
  expect(logged).toEqual([]);
  expect(await kinds()).toEqual({});
  const [{ workspace_id: workspaceId } = { workspace_id: 0 }] = await findCampaigns(doctorFixture.pool, {
    name: undefined,
    workspaceId: undefined,
    standingStill: false,
  });
  const id = (await doctorFixture.read(
    sql.fragment`SELECT id::text FROM campaign WHERE workspace_id = ${workspaceId} LIMIT 1`,
  )) as string;
  expect(await getCampaignReport(doctorFixture.pool, workspaceId, id)).toMatchObject({
    waiting_for: 'QUEUED',
  });
  await poll({ describe: async () => ({ state: 'running', stuck: 'no worker' }) });
  expect(logged).toEqual(['campaigns stand still']);
  expect(campaigns).toHaveLength(3);
});

it('goes on at once after the clock of Postgres was set back, whatever the clock of the process says', async () => {
  await doctorFixture.run(
    sql.fragment`UPDATE campaign_watch SET next_at = now() + interval '1 hour', looked_at = now() + interval '1 hour'`,
  );
  expect(await check()).toBe(true);
  expect(await check()).toBe(false);
  expect(
    await doctorFixture.pool.oneFirst(sql.type(row(t.type({ isPast: t.boolean })))`
      SELECT looked_at BETWEEN now() - interval '1 minute' AND now() AS "isPast" FROM campaign_watch`),
  ).toBe(true);
});
