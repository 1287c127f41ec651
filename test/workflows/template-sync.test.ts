import type { ScheduleUpdateOptions } from '@temporalio/client';
import { Context } from '@temporalio/activity';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Orchestrator } from '../../src/orchestrator/orchestrator.ts';
import {
  contactImportWorkflowId,
  priceComparisonScheduleId,
  retentionScheduleId,
  taskQueues,
  templateSyncScheduleId,
  templateSyncWorkflowId,
} from '../../src/workflows/contract.ts';
import { workspaceIdKey } from '../../src/workflows/search-attributes.ts';
import { bundleWorkflows, startTemporal } from '../support/temporal.ts';
import { testOrchestrator } from '../support/test-orchestrator.ts';

let temporal: TestWorkflowEnvironment;
let orchestrator: Orchestrator;
let workerOf: (activities: object) => Promise<Worker>;
const createWorker = (syncTemplates: (businessAccountId: string) => Promise<object>) =>
  workerOf({ syncTemplates });

beforeAll(async () => {
  const [environment, workflowBundle] = await Promise.all([startTemporal(), bundleWorkflows()]);
  temporal = environment;
  orchestrator = testOrchestrator(temporal.client);
  workerOf = (activities) =>
    Worker.create({
      connection: temporal.nativeConnection,
      taskQueue: taskQueues.maintenance,
      workflowBundle,
      activities,
    });
});
afterAll(() => temporal.teardown());

test('gives an account one hourly schedule however often it is asked for', async () => {
  const account = { id: 'account-1', workspaceId: 1001 };
  await orchestrator.scheduleTemplateSync(account);
  await orchestrator.scheduleTemplateSync(account);
  const schedule = await temporal.client.schedule.getHandle(templateSyncScheduleId('account-1')).describe();
  expect(schedule.spec.intervals?.map(({ every }) => every)).toEqual([3_600_000]);
  expect(schedule.action).toMatchObject({
    workflowType: 'templateSync',
    taskQueue: taskQueues.maintenance,
    args: [{ businessAccountId: 'account-1' }],
  });
  expect(schedule.policies.overlap).toBe('SKIP');
});

test('corrects a schedule that differs, leaves a correct one alone, and keeps it paused', async () => {
  const account = { id: 'account-3', workspaceId: 1001 };
  await orchestrator.scheduleTemplateSync(account);
  const handle = temporal.client.schedule.getHandle(templateSyncScheduleId('account-3'));
  const changedAt = async () => (await handle.describe()).info.lastUpdatedAt;
  await orchestrator.scheduleTemplateSync(account);
  expect(await changedAt()).toBeUndefined();

  await handle.pause('by hand');
  const defined = await handle.describe();
  const otherwise: readonly Partial<ScheduleUpdateOptions>[] = [
    { spec: { intervals: [{ every: '1 day' }] } },
    { spec: { ...defined.spec, jitter: '1 second' } },
    { policies: { ...defined.policies, overlap: 'ALLOW_ALL' } },
    { policies: { ...defined.policies, catchupWindow: '1 day' } },
    { action: { ...defined.action, workflowType: 'ofAnEarlierRelease' } },
    { action: { ...defined.action, taskQueue: 'another' } },
    { action: { ...defined.action, args: [] } },
    { action: { ...defined.action, typedSearchAttributes: [{ key: workspaceIdKey, value: 1 }] } },
  ];
  for (const change of otherwise) {
    await handle.update((present) => ({ ...present, ...change }));
    await orchestrator.scheduleTemplateSync(account);
    const { spec, policies, action, state } = await handle.describe();
    expect({ spec, policies, action }, JSON.stringify(change)).toEqual({
      spec: defined.spec,
      policies: defined.policies,
      action: defined.action,
    });
    expect(state).toMatchObject({ paused: true, note: 'by hand' });
    const last = await changedAt();
    await orchestrator.scheduleTemplateSync(account);
    expect(await changedAt()).toEqual(last);
  }
});

test('changes the schedule of retention, too', async () => {
  await orchestrator.scheduleRetention();
  const handle = temporal.client.schedule.getHandle(retentionScheduleId);
  const { spec } = await handle.describe();
  await handle.update((present) => ({ ...present, spec: { intervals: [{ every: '1 day' }] } }));
  await orchestrator.scheduleRetention();
  expect((await handle.describe()).spec).toEqual(spec);
});

test('gives the comparison of prices one schedule', async () => {
  await orchestrator.schedulePriceComparison();
  await orchestrator.schedulePriceComparison();
  const { action, spec } = await temporal.client.schedule.getHandle(priceComparisonScheduleId).describe();
  expect(action).toMatchObject({ workflowType: 'priceComparison', taskQueue: 'maintenance' });
  expect(spec.intervals?.map(({ every }) => every)).toEqual([3_600_000]);
});

test('retries when the provider fails, and runs one sync of an account at a time', async () => {
  const synced: string[] = [];
  const worker = await createWorker((businessAccountId) => {
    synced.push(businessAccountId);
    return synced.length === 1
      ? Promise.reject(new Error('the provider is away'))
      : Promise.resolve({ synced: 3 });
  });
  await worker.runUntil(async () => {
    await Promise.all([
      orchestrator.startTemplateSync('account-2'),
      orchestrator.startTemplateSync('account-2'),
    ]);
    const run = temporal.client.workflow.getHandle(templateSyncWorkflowId('account-2'));
    expect(await run.result()).toEqual({ synced: 3 });
  });
  expect(synced).toEqual(['account-2', 'account-2']);
});

test('continues an import until it has ended, in one workflow however often it is asked for', async () => {
  const steps: string[] = [];
  const importContacts = async (importId: string) => {
    steps.push(importId);
    return steps.length > 1;
  };
  const worker = await workerOf({ importContacts });
  await worker.runUntil(async () => {
    const wanted = { id: 'import-1', workspaceId: 1001 };
    await Promise.all([orchestrator.startContactImport(wanted), orchestrator.startContactImport(wanted)]);
    const run = temporal.client.workflow.getHandle(contactImportWorkflowId('import-1'));
    await run.result();
    const { typedSearchAttributes, taskQueue } = await run.describe();
    expect([typedSearchAttributes.get(workspaceIdKey), taskQueue]).toEqual([1001, taskQueues.maintenance]);
  });
  expect(steps).toEqual(['import-1', 'import-1']);
});

test('cancels the import when somebody cancels its workflow', async () => {
  const cancelled: string[] = [];
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const worker = await workerOf({
    importContacts: async () => {
      begin();
      const context = Context.current();
      const timer = setInterval(() => context.heartbeat(), 100);
      await context.cancelled.finally(() => clearInterval(timer));
    },
    cancelImport: async (importId: string) => void cancelled.push(importId),
  });
  await worker.runUntil(async () => {
    await orchestrator.startContactImport({ id: 'import-2', workspaceId: 1001 });
    await begun;
    const run = temporal.client.workflow.getHandle(contactImportWorkflowId('import-2'));
    await run.cancel();
    await expect(run.result()).rejects.toThrow('cancelled');
  });
  expect(cancelled).toEqual(['import-2']);
});
