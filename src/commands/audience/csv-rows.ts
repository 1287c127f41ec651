/**
 * Parses CSV text chunk by chunk; each row has the line of the file on which it begins. A row with wrong quotes is reported and
 * left out; a quote that is never closed ends the reading.
 */
import { detectDialect, findHeaderLine } from '../../domain/audience/csv-dialect.ts';
import { createCsvParser, type CsvParser } from './csv-parser.ts';
import { maxRecordBytes, recordTooLong, type CsvRow } from './csv-row.ts';

export interface CsvRowReader {
  /** The rows that these bytes (UTF-8, without byte order mark) complete. Throws PreparationFailure CSV_UNREADABLE. */
  readonly write: (bytes: Buffer) => readonly CsvRow[];
  readonly end: () => readonly CsvRow[];
}

/** Blank rows are left out. The first row is the header. */
export function createCsvRowReader(): CsvRowReader {
  const beginning: Buffer[] = [];
  let received = 0;
  let searched = 0;
  let parser: CsvParser | undefined;

  const parse = (bytes: Buffer, isLast: boolean): readonly CsvRow[] => {
    if (parser !== undefined) return parser.read(bytes);
    beginning.push(bytes);
    received += bytes.length;
    // Searches again once twice as much has arrived: a long header would otherwise be searched once per chunk.
    if (!isLast && received < Math.min(2 * searched, maxRecordBytes)) return [];
    const text = Buffer.concat(beginning);
    searched = received;
    const headerLine = findHeaderLine(text.toString('utf8'), isLast);
    if (headerLine === undefined) {
      if (received > maxRecordBytes) throw recordTooLong(1);
      return [];
    }
    const { delimiter, hasSeparatorLine } = detectDialect(headerLine);
    parser = createCsvParser(delimiter);
    beginning.length = 0;
    if (!hasSeparatorLine) return parser.read(text);
    const end = text.indexOf(headerLine) + Buffer.byteLength(headerLine);
    // The separator line keeps its line break, so that line numbers stay those of the file.
    return parser.read(text.subarray(end));
  };

  return {
    write: (bytes) => parse(bytes, false),
    end: () => {
      const rows = parse(Buffer.alloc(0), true);
      return parser === undefined ? rows : [...rows, ...parser.end()];
    },
  };
}
