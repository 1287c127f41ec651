import { Context } from '@temporalio/activity';
import { archiveExpired, type Archivist } from '../commands/operations/archive-expired.ts';
import { eraseArchived } from '../commands/operations/erase-archived.ts';
import type { RetentionSummary } from '../commands/operations/delete-expired.ts';
import { deleteExpired } from '../commands/operations/delete-expired.ts';
import type { Dependencies } from '../dependencies.ts';
import { asActivity } from './failure.ts';

const batchSize = 5000;

export function createRetentionActivities(dependencies: Archivist & Pick<Dependencies, 'now'>) {
  // Kept between the hourly runs: otherwise an archive that takes too long would hold up the others every time.
  const late = new Set<string>();
  return {
    /** Deletes or archives what is older than its retention time. Safe to run again at any point. */
    deleteExpired: (): Promise<RetentionSummary> =>
      asActivity(async () => {
        const context = Context.current();
        const options = { batchSize, onBatch: () => context.heartbeat(), late };
        const archive = async () => ({
          ...(await archiveExpired(dependencies, options)),
          ...(await eraseArchived(dependencies, options)),
        });
        const deleted = await deleteExpired(dependencies, options).catch(async (error: unknown) => {
          // A file that cannot be deleted holds up neither archives nor the erasures in them.
          await archive();
          throw error;
        });
        return { ...deleted, ...(await archive()) };
      }),
  };
}

export type RetentionActivities = ReturnType<typeof createRetentionActivities>;
