import { beforeAll, expect, it } from 'vitest';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { replayOpen } from '../../src/process/replay-open.ts';
import { campaignWorkflowId } from '../../src/workflows/contract.ts';
import { setCampaignScene, until } from '../support/campaign-scene.ts';
import { openStage } from '../support/stage.ts';
import { bundleBrokenWorkflows, startTemporal } from '../support/temporal.ts';

const stage = openStage(startTemporal);
let broken: WorkflowBundleWithSourceMap;
beforeAll(async () => {
  broken = await bundleBrokenWorkflows();
});

it('names the open workflows that a build cannot go on with, and changes none', async () => {
  const scene = await setCampaignScene(stage(), { recipients: 2, scheduledInMs: 3_600_000 });
  const workflowId = campaignWorkflowId(scene.campaignId);
  const { client } = stage().temporal;
  await scene.withWorker(async () => {
    await scene.start();
    await until(async () => (await scene.progress()) !== null);
  });
  const before = (await client.workflow.getHandle(workflowId).describe()).historyLength;
  const replay = async (workflowBundle: WorkflowBundleWithSourceMap) =>
    replayOpen({ client }, { workflowBundle });
  // Temporal's lists lag behind.
  await until(async () => (await replay(stage().workflowBundle)).replayed === 1);
  expect(await replay(stage().workflowBundle)).toEqual({ replayed: 1, broken: [] });
  expect(await replay(broken)).toMatchObject({
    replayed: 1,
    broken: [{ workflowId, problem: expect.stringMatching(/^\[TMPRL1100\] Nondeterminism error: [^"]+$/) }],
  });
  expect((await client.workflow.getHandle(workflowId).describe()).historyLength).toBe(before);
});
