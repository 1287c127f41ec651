import { Context } from '@temporalio/activity';
import { archiveExpired, type Archivist } from '../commands/operations/archive-expired.ts';
import { eraseArchived } from '../commands/operations/erase-archived.ts';
import type { RetentionSummary } from '../commands/operations/delete-expired.ts';
import { deleteExpired } from '../commands/operations/delete-expired.ts';
import type { Dependencies } from '../dependencies.ts';
import { asActivity } from './failure.ts';

const batchSize = 5000;

export function createRetentionActivities(dependencies: Archivist & Pick<Dependencies, 'now'>) {
  return {
    /** Deletes or archives what is older than its retention time. Safe to run again at any point. */
    deleteExpired: (): Promise<RetentionSummary> =>
      asActivity(async () => {
        const context = Context.current();
        const options = { batchSize, onBatch: () => context.heartbeat() };
        const deleted = await deleteExpired(dependencies, options);
        const archived = await archiveExpired(dependencies, options);
        return { ...deleted, ...archived, ...(await eraseArchived(dependencies, options)) };
      }),
  };
}

export type RetentionActivities = ReturnType<typeof createRetentionActivities>;
