/** Streams a campaign's CSV into the file storage, and samples its beginning on the way. */
import { Readable } from 'node:stream';
import { createTurns } from '../../concurrency/slices.ts';
import { newCampaignFileKey } from '../audience/campaign-file.ts';
import { createCsvRowReader, createCsvTextDecoder, type CsvRow } from '../audience/csv.ts';
import type { Dependencies } from '../../dependencies.ts';
import { Invalid, StorageFull } from '../../domain/error.ts';
import { PreparationFailure } from '../../domain/audience/preparation-failure.ts';
import { countCampaignFiles, insertCampaignFile } from '../../records/campaigns/files.ts';

export interface UploadedFile {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  readonly headers: readonly string[];
  /** Number of data rows sampled from the beginning of the file. */
  readonly rowsSampled: number;
}

const sampleBytes = 256 * 1024;
// 4 KiB: a piece of blank lines has as many rows as bytes and is processed in one go.
const pieceBytes = 4 * 1024;

const mostFiles = 10_000;
const bytesPerGib = 1024 ** 3;
/** Bytes stored per workspace by running uploads of this process, which no `campaign_file` row counts yet. */
const underWay = new Map<number, number>();

/**
 * Throws Invalid for a file that no campaign could use, StorageFull at the workspace's limit, or the stream's own error. A
 * rejected file is deleted.
 */
export async function uploadCampaignFile(
  { storage, database, config }: Pick<Dependencies, 'storage' | 'database' | 'config'>,
  workspaceId: number,
  content: Readable,
): Promise<UploadedFile> {
  const key = newCampaignFileKey();
  const most = { files: mostFiles, bytes: config.uploadGibPerWorkspace * bytesPerGib };
  const full = () => {
    const limit = `${config.uploadGibPerWorkspace} GiB and ${mostFiles} campaign files`;
    return new StorageFull(
      `A workspace can keep at most ${limit} at a time: delete those that are no longer needed`,
    );
  };
  const kept = await countCampaignFiles(database, workspaceId);
  const taken = countTaken(workspaceId, (bytes) => {
    if (kept.files >= most.files || kept.bytes + bytes > most.bytes) throw full();
  });
  const probe = createProbe();
  try {
    taken.add(0);
    const watched = probed(content, {
      ...probe,
      take: (bytes) => (taken.add(bytes.length), probe.take(bytes)),
    });
    const size = await storage.write(key, Readable.from(watched, { objectMode: false }));
    const file = { key, size, ...probe.findings() };
    if (await insertCampaignFile(database, workspaceId, { ...file, most })) return file;
    throw full();
  } catch (error) {
    await storage.delete(key);
    throw error;
  } finally {
    taken.end();
  }
}

/** Counts an upload's bytes; after each piece, calls `check` with the bytes of all the workspace's running uploads. */
function countTaken(workspaceId: number, check: (bytes: number) => void) {
  let own = 0;
  const move = (bytes: number): number => {
    own += bytes;
    const all = (underWay.get(workspaceId) ?? 0) + bytes;
    if (all === 0) underWay.delete(workspaceId);
    else underWay.set(workspaceId, all);
    return all;
  };
  return { add: (bytes: number) => check(move(bytes)), end: () => void move(-own) };
}

interface Probe {
  readonly take: (bytes: Buffer) => void;
  readonly end: () => void;
  readonly findings: () => Pick<UploadedFile, 'headers' | 'rowsSampled'>;
}

async function* probed(content: Readable, probe: Probe): AsyncGenerator<Buffer> {
  const turn = createTurns();
  for await (const chunk of content) {
    for (let at = 0; at < (chunk as Buffer).length; at += pieceBytes) {
      probe.take((chunk as Buffer).subarray(at, at + pieceBytes));
      await turn();
    }
    yield chunk as Buffer;
  }
  probe.end();
}

const longestHeader = 255;

function createProbe(): Probe {
  const decoder = createCsvTextDecoder();
  const reader = createCsvRowReader();
  let sampledBytes = 0;
  let header: CsvRow | undefined;
  let rowsSampled = 0;

  const sample = (read: () => readonly CsvRow[]): void => {
    const rows = readable(read);
    header ??= rows[0];
    if (header !== undefined && 'problem' in header) throw refused('its header row cannot be read');
    rowsSampled += rows.length - (rows[0] === header && header !== undefined ? 1 : 0);
  };
  return {
    take(bytes) {
      if (sampledBytes >= sampleBytes) return;
      sampledBytes += bytes.length;
      sample(() => reader.write(decoder.write(bytes)));
    },
    end() {
      if (sampledBytes < sampleBytes) {
        sample(() => [...reader.write(decoder.end()), ...reader.end()]);
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
