import type { Dependencies } from '../dependencies.ts';
import { deleteCampaignFile, listExpiredCampaignFiles } from '../records/campaign-files.ts';
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
  dependencies: Pick<Dependencies, 'database' | 'config' | 'storage'>,
  { batchSize, onBatch }: RetentionOptions,
): Promise<RetentionSummary> {
  const { database, config } = dependencies;
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
  return { ...summary, files: await deleteExpiredFiles(dependencies, onBatch) };
}

const filesAtOnce = 100;

/** The bytes before the row: killed in between, the row leads to them again. */
async function deleteExpiredFiles(
  { database, config, storage }: Pick<Dependencies, 'database' | 'config' | 'storage'>,
  onBatch: () => void,
): Promise<number> {
  const batch = { olderThanDays: config.retentionDays, limit: filesAtOnce };
  let removed = 0;
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- batches follow each other
    const keys = await listExpiredCampaignFiles(database, batch);
    for (const key of keys) {
      // oxlint-disable-next-line no-await-in-loop -- as above
      await storage.delete(key);
      // oxlint-disable-next-line no-await-in-loop -- as above
      await deleteCampaignFile(database, key);
      removed += 1;
    }
    if (keys.length > 0) onBatch();
    if (keys.length < filesAtOnce) return removed;
  }
}
