import { beforeAll, expect, it } from 'vitest';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { replayOpen } from '../../src/process/replay-open.ts';
import { campaignWorkflowId } from '../../src/workflows/contract.ts';
import { createCampaignFixture, until } from '../support/campaign-fixture.ts';
import { openTestServers } from '../support/test-servers.ts';
import { bundleBrokenWorkflows, startTemporal } from '../support/temporal.ts';

const servers = openTestServers(startTemporal);
let broken: WorkflowBundleWithSourceMap;
beforeAll(async () => {
  broken = await bundleBrokenWorkflows();
});

it('names the open workflows that a build cannot go on with, and changes none', async () => {
  const fixture = await createCampaignFixture(servers(), { recipients: 2, scheduledInMs: 3_600_000 });
  const workflowId = campaignWorkflowId(fixture.campaignId);
  const { client } = servers().temporal;
  await fixture.withWorker(async () => {
    await fixture.start();
    await until(async () => (await fixture.progress()) !== null);
  });
  const before = (await client.workflow.getHandle(workflowId).describe()).historyLength;
  const replay = async (workflowBundle: WorkflowBundleWithSourceMap) =>
    replayOpen({ client }, { workflowBundle });
  // Temporal's lists lag behind.
  await until(async () => (await replay(servers().workflowBundle)).replayed === 1);
  expect(await replay(servers().workflowBundle)).toEqual({ replayed: 1, broken: [] });
  expect(await replay(broken)).toMatchObject({
    replayed: 1,
    broken: [{ workflowId, problem: expect.stringMatching(/^\[TMPRL1100\] Nondeterminism error: [^"]+$/) }],
  });
  expect((await client.workflow.getHandle(workflowId).describe()).historyLength).toBe(before);
});
