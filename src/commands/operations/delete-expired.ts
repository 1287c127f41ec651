import type { Dependencies } from '../../dependencies.ts';
import {
  deleteCampaignFile,
  listExpiredCampaignFiles,
  listUnknownFileKeys,
} from '../../records/campaigns/files.ts';
import {
  dropPartitions,
  makePartitions,
  type PartitionedTable,
} from '../../records/operations/partitions.ts';
import { removals } from '../../records/operations/retention.ts';
import { StorageFailure } from '../../storage/storage-failure.ts';
import { fileKeyPrefix } from '../audience/campaign-file-url.ts';

/** How many rows went, by kind; `days` of deliveries, events and callbacks went as a whole. */
export type RetentionSummary = Readonly<Record<string, number>>;

export interface RetentionOptions {
  readonly batchSize: number;
  /** Called after every batch. */
  readonly onBatch: () => void;
}

const tablesByDay: Readonly<Record<string, PartitionedTable>> = {
  deliveries: 'webhook_delivery',
  events: 'event',
  callbacks: 'provider_callback',
};

type Remover = Pick<Dependencies, 'database' | 'config' | 'storage' | 'logger' | 'now'>;

/**
 * Makes the days to come, removes what is older than `RETENTION_DAYS`, and what killed uploads have left. Stopped anywhere, it
 * goes on when it is called again.
 */
export async function deleteExpired(
  dependencies: Remover,
  { batchSize, onBatch }: RetentionOptions,
): Promise<RetentionSummary> {
  const { database, config, logger } = dependencies;
  const summary: Record<string, number> = {};
  let days = 0;
  for (const [kind, remove] of Object.entries(removals)) {
    const table = tablesByDay[kind];
    if (table !== undefined) {
      if (!(await makePartitions(database, table))) logger.warn({ table }, 'days to come were not made');
      onBatch();
      const dropped = await dropPartitions(database, table, config.retentionDays);
      onBatch();
      days += dropped ?? 0;
      // What goes as a whole in an hour need not go row by row now.
      if (dropped === undefined) continue;
    }
    let total = 0;
    let removed = batchSize;
    while (removed === batchSize) {
      removed = await remove(database, { olderThanDays: config.retentionDays, limit: batchSize });
      total += removed;
      onBatch();
    }
    summary[kind] = total;
  }
  const leftovers = await removeLeftovers(dependencies, onBatch);
  return { days, ...summary, leftovers, files: await deleteExpiredFiles(dependencies, onBatch) };
}

const filesAtOnce = 100;

/** The bytes before the row: killed in between, the row leads to them again. */
async function deleteExpiredFiles(
  { database, config, storage }: Remover,
  onBatch: () => void,
): Promise<number> {
  const batch = { olderThanDays: config.retentionDays, limit: filesAtOnce };
  let removed = 0;
  for (;;) {
    const keys = await listExpiredCampaignFiles(database, batch);
    const removedBefore = removed;
    let failure: unknown;
    for (const key of keys) {
      try {
        await storage.delete(key);
        await deleteCampaignFile(database, key);
        removed += 1;
      } catch (error) {
        failure = error;
      }
    }
    if (keys.length > 0) onBatch();
    // One that cannot be removed holds up none of the others: it comes first again with the next batch.
    if (failure !== undefined && removed === removedBefore) throw failure;
    if (keys.length < filesAtOnce && failure === undefined) return removed;
  }
}

const dayMs = 24 * 60 * 60 * 1_000;

/**
 * An upload whose process was killed left what it had written, or all of it but no row that leads there. Nobody knows the
 * key of either. A store that does not let us look is no reason to fail: what had to go has gone.
 */
async function removeLeftovers(
  { database, config, storage, logger, now }: Remover,
  onBatch: () => void,
): Promise<number> {
  const daysAgo = (days: number): Date => new Date(now().getTime() - days * dayMs);
  try {
    let removed = await storage.removeUnfinished({ prefix: fileKeyPrefix, before: daysAgo(1) });
    const old = { prefix: fileKeyPrefix, before: daysAgo(config.retentionDays) };
    for await (const keys of storage.list(old)) {
      const unknown = await listUnknownFileKeys(database, keys);
      await Promise.all(unknown.map((key) => storage.delete(key)));
      removed += unknown.length;
      onBatch();
    }
    return removed;
  } catch (error) {
    if (!(error instanceof StorageFailure)) throw error;
    logger.warn({ reason: error.message }, 'leftovers of uploads not removed');
    return 0;
  }
}
