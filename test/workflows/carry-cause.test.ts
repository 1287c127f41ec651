import { Worker } from '@temporalio/worker';
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { causeOptions } from '../../src/process/worker-cause.ts';
import { callContext, withCallContext } from '../../src/concurrency/call-context.ts';
import { campaignWorkflowId, signalNames, taskQueues } from '../../src/workflows/contract.ts';
import { until } from '../support/campaign-fixture.ts';
import { openTestServers } from '../support/test-servers.ts';
import { startTemporal } from '../support/temporal.ts';
import { createWorkerOrchestrator } from '../../src/orchestrator/orchestrator.ts';

const servers = openTestServers(startTemporal);

it('passes the id of the causing request to a step, and none for an operator’s action', async () => {
  const { temporal, workflowBundle } = servers();
  const seen: (string | undefined)[] = [];
  const asleep = async () => {
    seen.push(callContext().requestId);
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
    return {
      status: 'SCHEDULED',
      pauseReason: null,
      prepared: true,
      preparationError: null,
      scheduledAt,
      counts: {},
    };
  };
  const cause = causeOptions({ add: () => undefined } as unknown as Parameters<typeof causeOptions>[0]);
  const worker = await Worker.create({
    connection: temporal.nativeConnection,
    taskQueue: taskQueues.campaigns,
    workflowBundle,
    ...cause,
    activities: { prepareCampaign: asleep, readCampaign: asleep, operateCampaign: asleep },
  });
  const orchestrator = createWorkerOrchestrator(temporal.nativeConnection, temporal.namespace ?? 'default');
  const id = randomUUID();
  const handle = temporal.client.workflow.getHandle(campaignWorkflowId(id));
  await worker.runUntil(async () => {
    await withCallContext({ requestId: 'creates' }, () =>
      orchestrator.startCampaign({ id, workspaceId: 1, name: 'Test' }),
    );
    await until(async () => seen.length === 1);
    await handle.signal(signalNames.refresh);
    await until(async () => seen.length === 2);
    await withCallContext({ requestId: 'changes' }, () => orchestrator.refreshCampaign(id));
    await until(async () => seen.length === 3);
    await handle.executeUpdate('pause');
    await handle.terminate();
  });
  expect(seen).toEqual(['creates', undefined, 'changes', undefined]);
});
