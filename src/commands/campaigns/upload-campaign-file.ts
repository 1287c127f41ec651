/** Takes a campaign's CSV into the file storage, looked at while it streams through. */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { CsvRow } from '../audience/csv-row.ts';
import { createCsvRowReader } from '../audience/csv-rows.ts';
import { createCsvTextDecoder } from '../audience/csv-text.ts';
import type { Dependencies } from '../../dependencies.ts';
import { Invalid } from '../../domain/error.ts';
import { PreparationFailure } from '../../domain/audience/preparation-failure.ts';
import { insertCampaignFile } from '../../records/campaigns/files.ts';

export interface UploadedFile {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  readonly headers: readonly string[];
  /** Data rows that were looked at: those at the beginning of the file. */
  readonly rowsSampled: number;
}

/** Of every key: the bucket may hold other things. */
export const fileKeyPrefix = 'csv_';

const sampleBytes = 256 * 1024;

/** Throws Invalid for a file that no campaign could use, and whatever breaks the stream off; nothing is kept then. */
export async function uploadCampaignFile(
  { storage, database }: Pick<Dependencies, 'storage' | 'database'>,
  workspaceId: number,
  content: Readable,
): Promise<UploadedFile> {
  const key = `${fileKeyPrefix}${randomUUID()}.csv`;
  const probe = createProbe();
  const size = await storage.write(key, Readable.from(probed(content, probe), { objectMode: false }));
  const file = { key, size, ...probe.findings() };
  try {
    await insertCampaignFile(database, workspaceId, file);
  } catch (error) {
    await storage.delete(key);
    throw error;
  }
  return file;
}

interface Probe {
  readonly take: (bytes: Buffer) => void;
  readonly end: () => void;
  readonly findings: () => Pick<UploadedFile, 'headers' | 'rowsSampled'>;
}

async function* probed(content: Readable, probe: Probe): AsyncGenerator<Buffer> {
  for await (const chunk of content) {
    probe.take(chunk as Buffer);
    yield chunk as Buffer;
  }
  probe.end();
}

const longestHeader = 255;

function createProbe(): Probe {
  const decoder = createCsvTextDecoder();
  const reader = createCsvRowReader();
  let looked = 0;
  let header: CsvRow | undefined;
  let rowsSampled = 0;

  const look = (read: () => readonly CsvRow[]): void => {
    const rows = readable(read);
    header ??= rows[0];
    if (header !== undefined && 'problem' in header) throw refused('its header row cannot be read');
    rowsSampled += rows.length - (rows[0] === header && header !== undefined ? 1 : 0);
  };
  return {
    take(bytes) {
      if (looked >= sampleBytes) return;
      looked += bytes.length;
      look(() => reader.write(decoder.write(bytes)));
    },
    end() {
      if (looked < sampleBytes) {
        look(() => [...reader.write(decoder.end()), ...reader.end()]);
      }
      if (rowsSampled === 0) throw refused('it must have a header row and at least one data row');
    },
    findings() {
      const cells = header !== undefined && 'cells' in header ? header.cells : [];
      return {
        headers: cells.map((cell) => cell.trim().slice(0, longestHeader).toWellFormed()),
        rowsSampled,
      };
    },
  };
}

function readable(read: () => readonly CsvRow[]): readonly CsvRow[] {
  try {
    return read();
  } catch (error) {
    throw error instanceof PreparationFailure ? refused(error.message) : error;
  }
}

function refused(why: string): Invalid {
  return Invalid.at('file', `The file is not a usable CSV: ${why}`);
}
