/** Reads from Worker Versioning which workers Temporal gives work to. */
import type { WorkflowService } from '@temporalio/client';

export const deploymentName = 'messaging-campaigns';

/** Build ids of the versions that get work; all are absent while no version is current. */
export interface Routing {
  readonly current?: string | null | undefined;
  readonly ramping?: string | null | undefined;
  /** The current version ramps down to unversioned workers. */
  readonly rampsToUnversioned?: boolean;
}

/** Fails if no versioned worker was ever started, because there is no deployment then. */
export async function readRouting(
  workflowService: Pick<WorkflowService, 'describeWorkerDeployment'>,
  namespace: string,
): Promise<Routing> {
  const { workerDeploymentInfo } = await workflowService.describeWorkerDeployment({
    namespace,
    deploymentName,
  });
  const { currentDeploymentVersion, rampingDeploymentVersion, rampingVersionPercentage } =
    workerDeploymentInfo?.routingConfig ?? {};
  const ramping = rampingDeploymentVersion?.buildId;
  return {
    current: currentDeploymentVersion?.buildId,
    ramping,
    rampsToUnversioned: ramping === undefined && (rampingVersionPercentage ?? 0) > 0,
  };
}

/** `buildId` is undefined for a worker that is not versioned. */
export function getsWork(
  { current, ramping, rampsToUnversioned = false }: Routing,
  buildId: string | undefined,
): boolean {
  if (buildId !== undefined) return [current, ramping].includes(buildId);
  return current === undefined || rampsToUnversioned;
}
