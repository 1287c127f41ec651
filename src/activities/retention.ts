import { Context } from '@temporalio/activity';
import {
  deleteExpired,
  deleteMessages,
  type RetentionSummary,
} from '../commands/operations/delete-expired.ts';
import type { Dependencies } from '../dependencies.ts';
import { asActivity } from './failure.ts';

const batchSize = 5000;

export function createRetentionActivities(
  dependencies: Pick<Dependencies, 'database' | 'config' | 'storage' | 'logger' | 'now'>,
) {
  return {
    /** Deletes what is older than its retention time. Safe to run again at any point. */
    deleteExpired: (): Promise<RetentionSummary> =>
      asActivity(async () => {
        const context = Context.current();
        const options = { batchSize, onBatch: () => context.heartbeat() };
        // Old messages come first, so that a file that cannot be deleted does not keep them.
        const messages = await deleteMessages(dependencies, options);
        return { ...messages, ...(await deleteExpired(dependencies, options)) };
      }),
  };
}

export type RetentionActivities = ReturnType<typeof createRetentionActivities>;
