/** Options of the Temporal workers, shared by the worker process and the tests. */
import { NativeConnection, type WorkerOptions } from '@temporalio/worker';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { within } from '../concurrency/within.ts';
import type { Config } from '../config.ts';
import { temporalConnectionOptions } from '../orchestrator/connection.ts';
import { deploymentName, getsWork, readRouting } from '../orchestrator/worker-deployment.ts';
import type { Logger } from '../telemetry/logger.ts';

/*
 * Worker Versioning by deployment: every build is a version, and an operator chooses which one takes new work. Campaigns sleep
 * for weeks and move to the current build at their next step; workflows of a few minutes end on the build that began them.
 */

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
  // A silent server must not delay the response of /readyz.
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

// Connects the worker to Temporal, whose server and namespace may be created after the worker has started.

const firstPauseMs = 250;
const longestPauseMs = 5_000;
// 5 s: a server that accepts the connection but does not respond is logged too.
const silentMs = 5_000;

/** Resolves when the server responds and has the namespace, however long that takes. Logs once what it waits for. */
export async function connectToTemporal(
  config: Pick<Config, 'temporalAddress' | 'temporalNamespace' | 'temporalTls' | 'temporalApiKey'>,
  logger: Pick<Logger, 'warn'>,
): Promise<NativeConnection> {
  const { temporalAddress: address, temporalNamespace: namespace } = config;
  const options = await temporalConnectionOptions(config);
  const connection = await untilDone(
    () => NativeConnection.connect(options),
    (error) => logger.warn({ address, error }, 'Temporal does not answer yet, trying again'),
  );
  await untilDone(
    () => connection.workflowService.describeNamespace({ namespace }),
    (error) => logger.warn({ address, namespace, error }, 'Temporal has no such namespace yet, trying again'),
  );
  return connection;
}

async function untilDone<T>(attempt: () => Promise<T>, log: (error: string) => void): Promise<T> {
  let isLogged = false;
  const logOnce = (error: string): void => {
    if (!isLogged) log(error);
    isLogged = true;
  };
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    const silent = setTimeout(() => logOnce('no answer'), silentMs);
    try {
      return await attempt();
    } catch (error) {
      logOnce(firstLine(error));
      await sleep(pauseMs);
    } finally {
      clearTimeout(silent);
    }
  }
}

function firstLine(error: unknown): string {
  return String(error).split('\n', 1)[0]?.slice(0, 300) ?? '';
}

const bundlePath = fileURLToPath(new URL('../../workflow-bundle.js', import.meta.url));
const workflowsPath = fileURLToPath(new URL('../workflows/index.js', import.meta.url));

/** The build's bundle; without one (only in development) the worker bundles when it starts. */
export function workflowSource():
  | Pick<WorkerOptions, 'workflowBundle'>
  | Pick<WorkerOptions, 'workflowsPath'> {
  return existsSync(bundlePath) ? { workflowBundle: { codePath: bundlePath } } : { workflowsPath };
}

/** Send steps wait on the network, so many of them fit into one process. */
export const campaignWorkerOptions = {
  maxConcurrentActivityTaskExecutions: 200,
  maxConcurrentWorkflowTaskExecutions: 40,
  // A cached workflow takes 0.1 MB. The default depends on the heap limit and ranges from ten to thousands; an evicted campaign
  // is replayed at its next step.
  maxCachedWorkflows: 500,
  // Begins with one poll: the server answers polls in order of arrival, so a worker with ten open polls gets the next ten steps.
  activityTaskPollerBehavior: { type: 'autoscaling', minimum: 1, initial: 1, maximum: 10 },
  // A step stops claiming as soon as the process drains; requests in flight may take the provider's time limit.
  shutdownGraceTime: '25 seconds',
  shutdownForceTime: '40 seconds',
} satisfies Partial<WorkerOptions>;

/** Retention and the syncs of templates: a few short workflows at a time. */
export const maintenanceWorkerOptions = {
  maxCachedWorkflows: 20,
  maxConcurrentWorkflowTaskExecutions: 10,
} satisfies Partial<WorkerOptions>;
