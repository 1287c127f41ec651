import { proxyActivities } from '@temporalio/workflow';
import type { RetentionActivities } from '../activities/retention.ts';

const { deleteExpired } = proxyActivities<RetentionActivities>({
  // Archives (30 min), the last of them (1 h), then erasures (30 min) and the last archive they rewrite. Heartbeats end a dead one.
  startToCloseTimeout: '6 hours',
  heartbeatTimeout: '2 minutes',
  retry: { initialInterval: '5 seconds', maximumInterval: '5 minutes', maximumAttempts: 10 },
  summary: 'remove what has outlived its time',
});

/** Started by its schedule. Returns the number of deleted rows by kind. */
export async function retention(): Promise<Readonly<Record<string, number>>> {
  return deleteExpired();
}
