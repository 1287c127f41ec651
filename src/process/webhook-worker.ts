/** Sizes the worker of task queue `webhooks`: every delivery in flight occupies a workflow task and a local activity. */
import type { WorkerOptions } from '@temporalio/worker';
import type { Config } from '../config.ts';
import { taskQueues } from '../workflows/contract.ts';

/** Additional workflow tasks, for deliveries that other workers have left behind. */
const spare = 24;

/** The caller adds connection, namespace, workflow bundle and `createWebhookActivities(dependencies)`. */
export function webhookWorkerOptions({ webhookSlots }: Pick<Config, 'webhookSlots'>) {
  // Fast endpoints, a quarter as many for slow ones, and the spare ones: all may hang for five seconds.
  const deliveries = webhookSlots + Math.ceil(webhookSlots / 4) + spare;
  return {
    taskQueue: taskQueues.webhooks,
    maxConcurrentWorkflowTaskExecutions: deliveries,
    maxConcurrentLocalActivityExecutions: deliveries,
    maxCachedWorkflows: deliveries,
    workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: 5 },
    maxConcurrentActivityTaskExecutions: 1,
    activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 1 },
    // Time to finish an attempt and record it.
    shutdownGraceTime: '10 seconds',
  } as const satisfies WorkerOptions;
}
