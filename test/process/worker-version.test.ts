import { Worker, type NativeConnection } from '@temporalio/worker';
import { sql } from 'slonik';
import { expect, it } from 'vitest';
import { createCampaignActivities } from '../../src/activities/campaign.ts';
import { viewWorkflows } from '../../src/commands/operations/workflow-view.ts';
import { deploymentName } from '../../src/orchestrator/worker-deployment.ts';
import { findUnserved, versionOptions } from '../../src/process/worker-options.ts';
import { nothing } from '../../src/records/database/row.ts';
import { campaignWorkflowId, taskQueues } from '../../src/workflows/contract.ts';
import { createCampaignFixture, until, type CampaignFixture } from '../support/campaign-fixture.ts';
import { openTestServers } from '../support/test-servers.ts';
import { startTemporal } from '../support/temporal.ts';

const servers = openTestServers(startTemporal);
const temporalNamespace = 'default';

const connection = (): NativeConnection => servers().temporal.nativeConnection;
const unserved = (workerBuildId?: string) => findUnserved(connection(), { temporalNamespace, workerBuildId });

async function startVersion({ dependencies }: CampaignFixture, workerBuildId: string) {
  const worker = await Worker.create({
    connection: connection(),
    taskQueue: taskQueues.campaigns,
    workflowBundle: servers().workflowBundle,
    activities: createCampaignActivities(dependencies, { draining: () => false }),
    ...versionOptions({ workerBuildId }, 'AUTO_UPGRADE'),
  });
  const running = worker.run();
  return async () => {
    worker.shutdown();
    await running;
  };
}

/** Does what `temporal worker deployment set-current-version` does, once the server knows the version. */
const setCurrent = (buildId: string) =>
  until(() =>
    connection()
      .workflowService.setWorkerDeploymentCurrentVersion({
        namespace: temporalNamespace,
        deploymentName,
        buildId,
      })
      .then(
        () => true,
        () => false,
      ),
  );

/** `set-current-version --unversioned`. */
const setUnversioned = () =>
  connection().workflowService.setWorkerDeploymentCurrentVersion({
    namespace: temporalNamespace,
    deploymentName,
  });

it('gives work to the version that is current, and a sleeping campaign to the next one', async () => {
  const fixture = await createCampaignFixture(servers(), { recipients: 3, scheduledInMs: 3_600_000 });
  expect(await unserved()).toEqual([]);
  expect(await unserved('1')).toEqual(['the deployment of its version is unknown']);

  const queue = () => viewWorkflows(fixture.dependencies.orchestrator).findUnserved(taskQueues.campaigns);
  expect(await queue()).toBe('no worker serves the task queue campaigns');
  const stopFirst = await startVersion(fixture, '1');
  await fixture.start();
  await until(async () => (await unserved('1'))[0] === 'version 1 is neither current nor ramping');
  expect(await unserved()).toEqual([]);
  await expect
    .poll(queue, { timeout: 20_000 })
    .toBe(
      'no worker serves the task queue campaigns: those that poll it are of version 1, and no version is current',
    );
  const handle = servers().temporal.client.workflow.getHandle(campaignWorkflowId(fixture.campaignId));
  expect((await handle.describe()).historyLength).toBe(2);
  await setCurrent('1');
  expect(await unserved('1')).toEqual([]);
  await expect.poll(queue, { timeout: 20_000 }).toBeUndefined();
  expect(await unserved()).toEqual(['version 1 is current, and this worker has no WORKER_BUILD_ID']);
  await until(async () => (await fixture.progress()) !== null);

  const stopSecond = await startVersion(fixture, '2');
  await setCurrent('2');
  expect(await unserved('2')).toEqual([]);
  expect(await unserved('1')).toEqual(['version 1 is neither current nor ramping']);
  await servers().database.query(sql.type(nothing)`
    UPDATE campaign SET scheduled_at = now() WHERE id = ${fixture.campaignId}`);
  await fixture.dependencies.orchestrator.refreshCampaign(fixture.campaignId);
  expect(await fixture.result()).toMatchObject({ status: 'COMPLETED', counts: { accepted: 3 } });
  const { raw } = await handle.describe();
  expect(raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion).toMatchObject({ buildId: '2' });
  await setUnversioned();
  expect(await unserved()).toEqual([]);
  expect(await unserved('2')).toEqual(['version 2 is neither current nor ramping']);
  await Promise.all([stopFirst(), stopSecond()]);
});

it('does not wait for a server that is silent', async () => {
  const silent = {
    workflowService: { describeWorkerDeployment: () => new Promise(() => undefined) },
  } as unknown as NativeConnection;
  const [versioned, unversioned] = await Promise.all(
    ['1', undefined].map((workerBuildId) => findUnserved(silent, { temporalNamespace, workerBuildId })),
  );
  expect(versioned).toEqual(['the deployment of its version is unknown']);
  expect(unversioned).toEqual([]);
}, 10_000);
