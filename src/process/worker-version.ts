/**
 * Worker Versioning by deployment: every build is a version, and an operator says which one takes new work. Campaigns sleep
 * for weeks and go over to the current build at their next step; what ends within minutes ends on the build it began on.
 */
import type { NativeConnection, WorkerOptions } from '@temporalio/worker';
import type { Config } from '../config.ts';

export const deploymentName = 'messaging-campaigns';

/** Empty without a build id: such a worker takes what no version is current for. */
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

/** What keeps new work from this build; nothing when it is versioned not at all, or current, or ramping. */
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
