/** Moves old recipients and messages into the file storage (`MESSAGE_RETENTION_MONTHS`). */
import { Readable, pipeline } from 'node:stream';
import { createGzip } from 'node:zlib';
import { errorName } from '../../concurrency/polling-loop.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { Database } from '../../records/database/database.ts';
import { isDatabaseAway } from '../../records/database/failure.ts';
import { readMessagesOfMonth, type MonthOfMessages } from '../../records/messages/message-archive.ts';
import {
  closeArchive,
  deleteArchivedMessages,
  deleteArchivedRecipients,
  isArchived,
  lastPosition,
  listCampaignsToArchive,
  listMonthsToArchive,
  listOpenArchives,
  recordArchive,
  type ArchiveSource,
  type OpenArchive,
} from '../../records/operations/archives.ts';
import { StorageFailure } from '../../storage/storage-failure.ts';

/** Prefix of every archive's key, for lifecycle rules of a bucket. */
export const archiveKeyPrefix = 'archive_';

export type Archivist = Pick<Dependencies, 'database' | 'config' | 'storage' | 'logger' | 'recipientExport'>;

export interface ArchiveOptions {
  /** Rows deleted in one transaction. */
  readonly batchSize: number;
  /** Called after every batch, and after every piece of an archive. */
  readonly onBatch: () => void;
  /** Keys of archives that took too long in earlier runs. The function keeps it up to date, and tries them last. */
  readonly late?: Set<string>;
}

/** 30 min: no archive is begun later, so that the activity (6 h) ends by itself; the next hourly run continues. */
export const longestMs = 30 * 60_000;
const sourcesAtOnce = 100;
/** 1 h: less than an erasure waits for archives that were read before it (`erase-archived.ts`), and than the activity may take. */
const mostWritingMs = 60 * 60_000;

/**
 * Archives recipients of campaigns that ended, and messages outside campaigns of months that ended, `MESSAGE_RETENTION_MONTHS`
 * ago; then deletes them. One that fails does not hold up the others. May be stopped anywhere: an archive without a record is
 * written again with the same content, and one with a record only has rows deleted.
 */
export async function archiveExpired(
  archivist: Archivist,
  options: ArchiveOptions,
): Promise<Readonly<Record<string, number>>> {
  const { database, config, logger } = archivist;
  const { messageRetentionMonths } = config;
  if (messageRetentionMonths === undefined) return {};
  const summary = { archives: 0, archivedRows: 0 };
  const failed = new Set<string>();
  const { late = new Set() } = options;
  const until = performance.now() + longestMs;
  try {
    for await (const source of listSources(database, messageRetentionMonths, { failed, late })) {
      const startedAt = performance.now();
      if (startedAt > until) break;
      try {
        const archive = 'key' in source ? source : await writeArchive(archivist, source, options);
        summary.archivedRows += await removeRows(archivist, archive, options);
        summary.archives += 1;
        late.delete(keyOf(source));
      } catch (error) {
        if (performance.now() - startedAt > mostWritingMs) late.add(keyOf(source));
        if (error instanceof StorageFailure || isDatabaseAway(error)) throw error;
        failed.add(keyOf(source));
        logger.error({ key: keyOf(source), error: errorName(error) }, 'archive not finished');
      }
    }
  } catch (error) {
    if (!(error instanceof StorageFailure)) throw error;
    logger.warn({ reason: error.message }, 'old messages not archived');
  }
  return summary;
}

/**
 * Yields archives whose rows are not all deleted, then sources to be archived, and `late` ones after all others. Lists again
 * until only `failed` ones are left.
 */
async function* listSources(
  database: Database,
  olderThanMonths: number,
  { failed, late }: { readonly failed: ReadonlySet<string>; readonly late: ReadonlySet<string> },
): AsyncGenerator<ArchiveSource | OpenArchive> {
  // Failed and late ones are listed again: with room for them, a list that has no others left is empty.
  const limit = () => sourcesAtOnce + failed.size + late.size;
  const lists: readonly (() => Promise<readonly (ArchiveSource | OpenArchive)[]>)[] = [
    () => listOpenArchives(database, limit()),
    () => listCampaignsToArchive(database, { olderThanMonths, limit: limit() }),
    () => listMonthsToArchive(database, { olderThanMonths, limit: limit() }),
  ];
  for (const postponed of [late, new Set<string>()]) {
    for (const list of lists) {
      const listOpen = async () =>
        (await list()).filter((source) => !failed.has(keyOf(source)) && !postponed.has(keyOf(source)));
      for (let sources = await listOpen(); sources.length > 0; sources = await listOpen()) yield* sources;
    }
  }
}

const keyOf = ({ workspaceId, campaignId, month }: ArchiveSource): string =>
  `${archiveKeyPrefix}${campaignId === null ? `messages_${workspaceId}_${month}` : `campaign_${campaignId}`}.csv.gz`;

/** Another process has recorded the archive, and may be deleting its rows. */
class ArchivedElsewhere extends Error {}

async function writeArchive(
  archivist: Archivist,
  source: ArchiveSource,
  { onBatch }: ArchiveOptions,
): Promise<OpenArchive> {
  const { database, storage } = archivist;
  const key = keyOf(source);
  const startedAt = performance.now();
  const requireTime = (): void => {
    if (performance.now() - startedAt > mostWritingMs)
      throw new StorageFailure(`The archive ${key} was written too slowly`);
  };
  const onChunk = (): void => {
    requireTime();
    onBatch();
  };
  // An error of the rows' stream destroys the gzip stream, and with it the write.
  const zipped = pipeline(
    Readable.from(readWhole(archivist, source, onChunk), { objectMode: false }),
    createGzip(),
    () => undefined,
  );
  try {
    const size = await storage.write(key, zipped);
    requireTime();
    await recordArchive(database, { ...source, key, size });
  } catch (error) {
    if (!(error instanceof ArchivedElsewhere)) throw error;
  }
  return { ...source, key };
}

/**
 * Reads every row of the source. Rows are deleted only once their archive is recorded: if a record exists at the end, another
 * process may have deleted rows meanwhile, and this throws, so that its complete object is not replaced.
 */
async function* readWhole(archivist: Archivist, source: ArchiveSource, onChunk: () => void) {
  for await (const chunk of readRows(archivist, source)) {
    yield chunk as Buffer;
    onChunk();
  }
  if (await isArchived(archivist.database, keyOf(source))) throw new ArchivedElsewhere();
}

function readRows({ config, recipientExport }: Archivist, { workspaceId, campaignId, month }: ArchiveSource) {
  return campaignId === null
    ? readMessagesOfMonth(config.databaseUrl, { workspaceId, month: month ?? '' })
    : recipientExport.read(workspaceId, {
        campaignId,
        states: [],
        reasons: [],
        afterPosition: 0,
        inFull: true,
      });
}

/** One short transaction per batch. Returns the number of rows. */
async function removeRows(
  { database }: Archivist,
  archive: OpenArchive,
  options: ArchiveOptions,
): Promise<number> {
  const { campaignId, month, workspaceId } = archive;
  const removed =
    campaignId === null
      ? await removeMessages(database, { workspaceId, month: month ?? '' }, options)
      : await removeRecipients(database, campaignId, options);
  await closeArchive(database, archive);
  return removed;
}

async function removeRecipients(
  database: Database,
  campaignId: string,
  { batchSize: limit, onBatch }: ArchiveOptions,
): Promise<number> {
  const last = await lastPosition(database, campaignId);
  let removed = 0;
  for (let after = 0; after < last; after += limit) {
    removed += await deleteArchivedRecipients(database, { campaignId, after, limit });
    onBatch();
  }
  return removed;
}

async function removeMessages(
  database: Database,
  month: MonthOfMessages,
  { batchSize: limit, onBatch }: ArchiveOptions,
): Promise<number> {
  let removed = 0;
  let from: Date | null = null;
  for (let count = limit; count === limit; removed += count) {
    ({ count, last: from } = await deleteArchivedMessages(database, { ...month, from, limit }));
    onBatch();
  }
  return removed;
}
