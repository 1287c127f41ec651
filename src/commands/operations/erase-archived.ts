/** Erasures in archives: rewrites each archive that names an erased person, without what an erasure clears in the database. */
import { Readable, pipeline } from 'node:stream';
import { createGunzip, createGzip } from 'node:zlib';
import { parse } from 'csv-parse';
import { errorName } from '../../concurrency/polling-loop.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { Database } from '../../records/database/database.ts';
import {
  endArchiveErasures,
  isErasedFrom,
  listArchivesToErase,
  listDueErasures,
  noteErasedFrom,
  type DueErasures,
} from '../../records/operations/archive-erasures.ts';
import { StorageFailure } from '../../storage/storage-failure.ts';
import { longestMs, type ArchiveOptions } from './archive-expired.ts';

type Eraser = Pick<Dependencies, 'database' | 'storage' | 'logger'>;
type Names = ReadonlySet<string>;

const archivesAtOnce = 100;
const recordsPerBeat = 10_000;

/** Columns by which a person is found, and those that an erasure clears (`records/contacts/erasure.ts`). */
const naming: Names = new Set(['contact_id', 'phone_number']);
const cleared: Names = new Set([
  'phone_number',
  'variables',
  'content',
  'reason_detail',
  'provider_message_id',
]);

/**
 * Removes the data of erased people from the archives. May be stopped anywhere: the next call begins with the archive that was
 * not finished. An archive that cannot be read delays the erasures of its own workspace only.
 */
export async function eraseArchived(
  eraser: Eraser,
  { onBatch }: Pick<ArchiveOptions, 'onBatch'>,
): Promise<Readonly<Record<string, number>>> {
  const { database, logger } = eraser;
  const due = await listDueErasures(database);
  if (due.length === 0) return {};
  let erasedArchives = 0;
  const until = performance.now() + longestMs;
  for (const erasures of due) {
    const { workspaceId } = erasures;
    try {
      for await (const key of listKeys(database, erasures)) {
        if (performance.now() > until) return { erasedArchives };
        if (await eraseFrom(eraser, { key, erasures, onBatch })) erasedArchives += 1;
      }
      await endArchiveErasures(database, erasures);
    } catch (error) {
      const reason = error instanceof StorageFailure ? error.message : errorName(error);
      logger.error({ workspaceId, reason }, 'people not erased from archives');
    }
  }
  return { erasedArchives };
}

/** Lists again until no archive is left: each is noted before the next list. */
async function* listKeys(database: Database, erasures: DueErasures): AsyncGenerator<string> {
  const list = () => listArchivesToErase(database, erasures, archivesAtOnce);
  for (let keys = await list(); keys.length > 0; keys = await list()) yield* keys;
}

interface Erasing {
  readonly key: string;
  readonly erasures: DueErasures;
  readonly onBatch: () => void;
}

/** Another process has applied these erasures, or more, and its object must not be replaced. */
class ErasedElsewhere extends Error {}

/** Writes only an archive that names one of the people; false otherwise. */
async function eraseFrom(eraser: Eraser, erasing: Erasing): Promise<boolean> {
  const { database, storage } = eraser;
  const { key, erasures } = erasing;
  const isNamed = await namesAny(eraser, erasing);
  let size: number | undefined;
  if (isNamed) {
    const content = Readable.from(rewrite(eraser, erasing), { objectMode: false });
    try {
      size = await storage.write(
        key,
        pipeline(content, createGzip(), () => undefined),
      );
    } catch (error) {
      if (!(error instanceof ErasedElsewhere)) throw error;
    }
  }
  await noteErasedFrom(database, { key, size }, erasures);
  return isNamed;
}

async function namesAny(eraser: Eraser, erasing: Erasing): Promise<boolean> {
  for await (const { isNamed } of readRecords(eraser, erasing)) if (isNamed) return true;
  return false;
}

async function* rewrite(eraser: Eraser, erasing: Erasing): AsyncGenerator<string> {
  for await (const { isNamed, raw, header, fields } of readRecords(eraser, erasing))
    yield isNamed ? withoutPerson(header, fields) : raw;
  if (await isErasedFrom(eraser.database, erasing.key, erasing.erasures)) throw new ErasedElsewhere();
}

interface ArchivedRecord {
  readonly header: readonly string[];
  readonly fields: readonly string[];
  /** The line that Postgres wrote, its line break included. */
  readonly raw: string;
  readonly isNamed: boolean;
}

/** The header first; nothing where a lifecycle rule has removed the object. */
async function* readRecords(
  { storage }: Eraser,
  { key, erasures, onBatch }: Erasing,
): AsyncGenerator<ArchivedRecord> {
  const zipped = await storage.read(key);
  if (zipped === undefined) return;
  const names: Names = new Set(erasures.names);
  const parser = parse({ raw: true, record_delimiter: '\n' });
  pipeline(zipped, createGunzip(), parser, () => undefined);
  let header: readonly string[] = [];
  let count = 0;
  for await (const { record: fields, raw } of parser as AsyncIterable<{ record: string[]; raw: string }>) {
    if (count === 0) header = fields;
    const isNamed = fields.some((field, nth) => naming.has(header[nth] ?? '') && names.has(field));
    yield { header, fields, raw, isNamed };
    count += 1;
    if (count % recordsPerBeat === 0) onBatch();
  }
  onBatch();
}

const withoutPerson = (header: readonly string[], fields: readonly string[]): string =>
  `${fields.map((field, nth) => (cleared.has(header[nth] ?? '') ? '' : quoted(field))).join(',')}\n`;

const quoted = (field: string): string =>
  /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
