/** Options of the Temporal workers, shared by the worker process and the tests. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { WorkerOptions } from '@temporalio/worker';

const bundlePath = fileURLToPath(new URL('../../workflow-bundle.js', import.meta.url));
const workflowsPath = fileURLToPath(new URL('../workflows/index.js', import.meta.url));

/** The bundle of the build; without one (only in development) the worker bundles at its start. */
export function workflowSource():
  | Pick<WorkerOptions, 'workflowBundle'>
  | Pick<WorkerOptions, 'workflowsPath'> {
  return existsSync(bundlePath) ? { workflowBundle: { codePath: bundlePath } } : { workflowsPath };
}

/** Steps of sending wait on the network: many of them fit into one process. */
export const campaignWorkerOptions = {
  maxConcurrentActivityTaskExecutions: 200,
  maxConcurrentWorkflowTaskExecutions: 40,
  // A cached workflow takes 0.1 MB. The default depends on the heap limit and ranges from ten to thousands; an evicted campaign
  // is replayed at its next step.
  maxCachedWorkflows: 500,
  // Begins with one poll: the server answers polls in order of arrival, so a worker with ten open polls gets the next ten steps.
  activityTaskPollerBehavior: { type: 'autoscaling', minimum: 1, initial: 1, maximum: 10 },
  // A step stops claiming as soon as the process drains; what is on the wire may take the provider's time limit.
  shutdownGraceTime: '25 seconds',
  shutdownForceTime: '40 seconds',
} satisfies Partial<WorkerOptions>;

/** Retention and the syncs of templates: a few short workflows at a time. */
export const maintenanceWorkerOptions = {
  maxCachedWorkflows: 20,
  maxConcurrentWorkflowTaskExecutions: 10,
} satisfies Partial<WorkerOptions>;
