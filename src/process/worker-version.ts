/**
 * Worker Versioning by deployment: every build is a version, and an operator chooses which one takes new work. Campaigns sleep
 * for weeks and move to the current build at their next step; workflows of a few minutes end on the build that began them.
 */
import type { NativeConnection, WorkerOptions } from '@temporalio/worker';
import { within } from '../concurrency/within.ts';
import type { Config } from '../config.ts';
import { deploymentName, getsWork, readRouting } from '../orchestrator/worker-deployment.ts';

const describeTimeoutMs = 3_000;

/** Empty without a build id: an unversioned worker takes the work for which no version is current. */
export function versionOptions(
  { workerBuildId: buildId }: Pick<Config, 'workerBuildId'>,
  defaultVersioningBehavior: 'AUTO_UPGRADE' | 'PINNED',
): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (buildId === undefined) return {};
  return {
    workerDeploymentOptions: {
      version: { deploymentName, buildId },
      useWorkerVersioning: true,
      defaultVersioningBehavior,
    },
  };
}

/**
 * Explains why this worker gets no new work; empty when it gets some. A versioned worker gets work while its version is current or
 * ramping, an unversioned one while no version is current, or while a current version ramps down to unversioned workers.
 */
export async function findUnserved(
  connection: Pick<NativeConnection, 'workflowService'> | undefined,
  {
    temporalNamespace: namespace,
    workerBuildId: buildId,
  }: Pick<Config, 'temporalNamespace' | 'workerBuildId'>,
): Promise<readonly string[]> {
  if (connection === undefined) return [];
  const call = readRouting(connection.workflowService, namespace);
  // A server that is silent must not delay the answer of /readyz.
  const routing = await within(describeTimeoutMs, call).catch(() => undefined);
  // Before its first versioned worker, no deployment exists.
  if (routing === undefined) return buildId === undefined ? [] : ['the deployment of its version is unknown'];
  if (getsWork(routing, buildId)) return [];
  return [
    buildId === undefined
      ? `version ${routing.current} is current, and this worker has no WORKER_BUILD_ID`
      : `version ${buildId} is neither current nor ramping`,
  ];
}
