import { proxyActivities } from '@temporalio/workflow';
import type { RetentionActivities } from '../activities/retention.ts';

const { deleteExpired } = proxyActivities<RetentionActivities>({
  // Long enough for the first run after the setting was made; heartbeats end a dead one.
  startToCloseTimeout: '6 hours',
  heartbeatTimeout: '2 minutes',
  retry: { initialInterval: '5 seconds', maximumInterval: '5 minutes', maximumAttempts: 10 },
  summary: 'remove what has outlived its time',
});

/** Started by its schedule. Returns the number of deleted rows by kind. */
export async function retention(): Promise<Readonly<Record<string, number>>> {
  return deleteExpired();
}
