import type { Dependencies } from '../dependencies.ts';
import { removals } from '../records/retention.ts';

/** How many rows went, by kind. */
export type RetentionSummary = Readonly<Record<string, number>>;

export interface RetentionOptions {
  readonly batchSize: number;
  /** Called after every batch. */
  readonly onBatch: () => void;
}

/** Removes what is older than `RETENTION_DAYS`. Stopped anywhere, it goes on when it is called again. */
export async function deleteExpired(
  { database, config }: Pick<Dependencies, 'database' | 'config'>,
  { batchSize, onBatch }: RetentionOptions,
): Promise<RetentionSummary> {
  const summary: Record<string, number> = {};
  for (const [kind, remove] of Object.entries(removals)) {
    let total = 0;
    let removed = batchSize;
    while (removed === batchSize) {
      // oxlint-disable-next-line no-await-in-loop -- batches follow each other
      removed = await remove(database, { olderThanDays: config.retentionDays, limit: batchSize });
      total += removed;
      onBatch();
    }
    summary[kind] = total;
  }
  return summary;
}
