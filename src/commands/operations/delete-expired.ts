/** The hourly retention job: partitions, old rows and files (`RETENTION_DAYS`), then old messages (`MESSAGE_RETENTION_MONTHS`). */
import { errorName } from '../../concurrency/polling-loop.ts';
import type { Dependencies } from '../../dependencies.ts';
import {
  deleteCampaignFile,
  listExpiredCampaignFiles,
  listUnknownFileKeys,
} from '../../records/campaigns/files.ts';
import { isDatabaseAway } from '../../records/database/failure.ts';
import {
  beginDeletingRecipients,
  deleteOldMessages,
  deleteRecipients,
  dropPartitions,
  endDeletingRecipients,
  listCampaignsToDelete,
  listWorkspacesWithOldMessages,
  makePartitions,
  type PartitionedTable,
  removals,
} from '../../records/operations/retention.ts';
import { StorageFailure } from '../../storage/file-storage.ts';
import { fileKeyPrefix } from '../audience/campaign-file.ts';

/** Rows and files deleted, by kind; `days` counts the dropped daily partitions of deliveries, events and callbacks. */
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
 * Creates daily partitions ahead of time, and deletes what is older than `RETENTION_DAYS` and what aborted uploads left behind.
 * May be stopped anywhere; the next call continues.
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
      if (!(await makePartitions(database, table))) logger.warn({ table }, 'daily partitions not created');
      onBatch();
      const dropped = await dropPartitions(database, table, config.retentionDays);
      onBatch();
      days += dropped ?? 0;
      // Locks prevented a drop. The next hourly run drops the whole partition, so there is no need to delete its rows now.
      if (dropped === undefined) continue;
    }
    let total = 0;
    let removed = batchSize;
    // A batch may delete more rows than asked for: duplicates go together.
    while (removed >= batchSize) {
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

/** Deletes the file before its row: if the process dies in between, the next run still finds the row. */
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
    // A file that cannot be deleted does not delay the others: only a batch that deletes nothing fails.
    if (failure !== undefined && removed === removedBefore) throw failure;
    if (keys.length < filesAtOnce && failure === undefined) return removed;
  }
}

const dayMs = 24 * 60 * 60 * 1_000;

/**
 * Deletes what uploads left behind when their process was killed: unfinished files, and finished ones without a row. Logs a
 * storage failure without failing the run, because leftovers can wait for the next one.
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

const campaignsAtOnce = 100;

/**
 * Deletes recipients of campaigns that ended more than `MESSAGE_RETENTION_MONTHS` ago, and other messages of that age. A
 * campaign that fails does not delay the others. May be stopped anywhere; the next call continues.
 */
export async function deleteMessages(
  { database, config, logger }: Pick<Dependencies, 'database' | 'config' | 'logger'>,
  { batchSize: limit, onBatch }: RetentionOptions,
): Promise<RetentionSummary> {
  const { messageRetentionMonths: olderThanMonths } = config;
  if (olderThanMonths === undefined) return {};
  const summary = { recipients: 0, messages: 0 };
  const failed: string[] = [];
  for (;;) {
    const ids = await listCampaignsToDelete(database, {
      olderThanMonths,
      limit: campaignsAtOnce,
      except: failed,
    });
    if (ids.length === 0) break;
    for (const campaignId of ids) {
      try {
        const last = await beginDeletingRecipients(database, campaignId);
        for (let after = 0; after < last; after += limit) {
          summary.recipients += await deleteRecipients(database, { campaignId, after, limit });
          onBatch();
        }
        await endDeletingRecipients(database, campaignId);
      } catch (error) {
        if (isDatabaseAway(error)) throw error;
        failed.push(campaignId);
        logger.error({ campaignId, error: errorName(error) }, 'old recipients not deleted');
      }
    }
  }
  for (const workspaceId of await listWorkspacesWithOldMessages(database, olderThanMonths)) {
    for (let removed = limit; removed === limit; summary.messages += removed) {
      removed = await deleteOldMessages(database, { workspaceId, olderThanMonths, limit });
      onBatch();
    }
  }
  return summary;
}
