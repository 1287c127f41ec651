/** The rows of a campaign's CSV as candidates, in batches. */
import { createTurns } from '../../concurrency/turns.ts';
import type { Candidate } from '../../domain/audience/candidate.ts';
import {
  columnProblems,
  csvCandidateReader,
  type CsvMapping,
  type CsvRowReading,
} from '../../domain/audience/csv.ts';
import { PreparationFailure } from '../../domain/audience/preparation-failure.ts';
import type { CsvRow } from './csv-row.ts';
import { createCsvRowReader } from './csv-rows.ts';
import { createCsvTextDecoder } from './csv-text.ts';

/** A batch has 1 MiB of the file at most, however long its rows are. */
const piecesOfBatch = 256;
// 4 KiB are parsed at once: each byte may be a row of its own, because a blank line is one.
const pieceBytes = 4 * 1024;

/** `batchSize`: the most rows of a batch. Throws PreparationFailure where the file as a whole cannot be used. */
export async function* readCsvCandidates(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  mapping: CsvMapping,
  batchSize = 1_000,
): AsyncGenerator<readonly Candidate[]> {
  let read: CsvRowReading | undefined;
  let batch: Candidate[] = [];
  let pieces = 0;
  for await (const rows of readCsvRows(chunks)) {
    pieces += 1;
    for (const row of rows) {
      if (read === undefined) read = readerFor(row, mapping);
      else batch.push('problem' in row ? malformed(row) : read(row.cells, row.line));
      if (batch.length === batchSize || (pieces >= piecesOfBatch && batch.length > 0)) {
        yield batch;
        batch = [];
        pieces = 0;
      }
    }
  }
  if (read === undefined)
    throw new PreparationFailure('CSV_UNREADABLE', 'The CSV is empty: it has no header row');
  if (batch.length > 0) yield batch;
}

/** Blank rows are left out; the first row is the header. */
export async function* readCsvRows(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
): AsyncGenerator<readonly CsvRow[]> {
  const decoder = createCsvTextDecoder();
  const reader = createCsvRowReader();
  const turn = createTurns();
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += pieceBytes) {
      yield reader.write(decoder.write(chunk.subarray(at, at + pieceBytes)));
      await turn();
    }
  yield reader.write(decoder.end());
  yield reader.end();
}

function readerFor(header: CsvRow, mapping: CsvMapping): CsvRowReading {
  if ('problem' in header) {
    throw new PreparationFailure('CSV_UNREADABLE', `Line ${header.line}: the header row cannot be read`);
  }
  const [problem] = columnProblems(mapping, header.cells.length);
  if (problem !== undefined) throw new PreparationFailure('CSV_COLUMN_OUT_OF_RANGE', problem.message);
  return csvCandidateReader(mapping, header.cells.length);
}

function malformed({ line, problem }: { readonly line: number; readonly problem: string }): Candidate {
  return { line, given: '', phone: undefined, malformed: problem };
}
