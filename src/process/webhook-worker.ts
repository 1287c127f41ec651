/** How the worker of task queue `webhooks` is sized: every open delivery holds a workflow task and a local activity. */
import type { WorkerOptions } from '@temporalio/worker';
import { defaultWebhookLoopOptions } from '../commands/webhooks/webhook-loops.ts';
import { taskQueues } from '../workflows/contract.ts';

const { pool } = defaultWebhookLoopOptions.scheduler;

/** To be joined with connection, namespace, workflow bundle and `createWebhookActivities(dependencies)`. */
export const webhookWorkerOptions = {
  taskQueue: taskQueues.webhooks,
  // The delivery scheduler hands out at most `pool`; all of them may hang for five seconds.
  maxConcurrentWorkflowTaskExecutions: pool + 24,
  maxConcurrentLocalActivityExecutions: pool + 24,
  maxCachedWorkflows: pool + 24,
  workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: 5 },
  maxConcurrentActivityTaskExecutions: 1,
  activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 1 },
  // An attempt and its record fit in.
  shutdownGraceTime: '10 seconds',
} as const satisfies WorkerOptions;
