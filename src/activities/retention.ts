import { Context } from '@temporalio/activity';
import type { RetentionSummary } from '../commands/operations/delete-expired.ts';
import { deleteExpired } from '../commands/operations/delete-expired.ts';
import type { Dependencies } from '../dependencies.ts';
import { asActivity } from './failure.ts';

const batchSize = 5000;

export function createRetentionActivities(
  dependencies: Pick<Dependencies, 'database' | 'config' | 'storage' | 'logger' | 'now'>,
) {
  return {
    /** Removes what has outlived its time. Safe to run again at any point. */
    deleteExpired: (): Promise<RetentionSummary> =>
      asActivity(() => {
        const context = Context.current();
        return deleteExpired(dependencies, { batchSize, onBatch: () => context.heartbeat() });
      }),
  };
}

export type RetentionActivities = ReturnType<typeof createRetentionActivities>;
