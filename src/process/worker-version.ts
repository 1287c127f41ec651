/**
 * Worker Versioning by deployment: every build is a version, and an operator chooses which one takes new work. Campaigns sleep
 * for weeks and move to the current build at their next step; workflows of a few minutes end on the build that began them.
 */
import type { NativeConnection, WorkerOptions } from '@temporalio/worker';
import type { Config } from '../config.ts';

export const deploymentName = 'messaging-campaigns';

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
 * Explains why this build gets no new work; empty when the worker is not versioned, or its version is current or ramping.
 */
export async function findUnserved(
  connection: Pick<NativeConnection, 'workflowService'> | undefined,
  {
    temporalNamespace: namespace,
    workerBuildId: buildId,
  }: Pick<Config, 'temporalNamespace' | 'workerBuildId'>,
): Promise<readonly string[]> {
  if (buildId === undefined || connection === undefined) return [];
  try {
    const { workerDeploymentInfo } = await connection.workflowService.describeWorkerDeployment({
      namespace,
      deploymentName,
    });
    const { currentDeploymentVersion, rampingDeploymentVersion } = workerDeploymentInfo?.routingConfig ?? {};
    const served = [currentDeploymentVersion, rampingDeploymentVersion].map((version) => version?.buildId);
    return served.includes(buildId) ? [] : [`version ${buildId} is neither current nor ramping`];
  } catch {
    return ['the deployment of its version is unknown'];
  }
}
