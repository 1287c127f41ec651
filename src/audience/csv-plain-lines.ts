/** Rows without any quote: every line break ends a row and every delimiter a cell, which takes a fifth of a parser's time. */
import { isBlankRow, maxRecordBytes, recordTooLong, type CsvRow } from './csv-row.ts';

export interface CsvPlainLines {
  /** The rows that these bytes complete. */
  readonly read: (bytes: Buffer) => readonly CsvRow[];
  /** The last row, when no line break ends it. */
  readonly end: () => readonly CsvRow[];
  /** What is not read yet and the line it begins on, for somebody else to read on. */
  readonly rest: () => { readonly bytes: Buffer; readonly line: number };
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const anyLineBreak = /\r\n|\n|\r/;

export function createCsvPlainLines(delimiter: string): CsvPlainLines {
  let rest: Buffer = Buffer.alloc(0);
  let line = 1;

  const rowsOf = (bytes: Buffer): readonly CsvRow[] => {
    const rows: CsvRow[] = [];
    const lines = bytes.toString('utf8').split(bytes.includes(carriageReturn) ? anyLineBreak : '\n');
    // Behind the last line break there is nothing.
    if (lines.at(-1) === '') lines.pop();
    for (const text of lines) {
      if (text.length > maxRecordBytes) throw recordTooLong(line);
      if (text !== '') {
        const cells = text.split(delimiter);
        if (!isBlankRow(cells)) rows.push({ line, cells });
      }
      line += 1;
    }
    return rows;
  };

  return {
    read(chunk) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const end = endOfLines(bytes);
      rest = bytes.subarray(end);
      const rows = rowsOf(bytes.subarray(0, end));
      if (rest.length > maxRecordBytes) throw recordTooLong(line);
      return rows;
    },
    end() {
      const bytes = rest;
      rest = bytes.subarray(bytes.length);
      return rowsOf(bytes);
    },
    rest: () => ({ bytes: rest, line }),
  };
}

/** Behind the last line break that is surely whole: a carriage return at the very end may be the first half of one. */
function endOfLines(bytes: Buffer): number {
  const last = bytes.length - 1;
  const feed = bytes.lastIndexOf(lineFeed);
  const behindFeed = bytes.subarray(feed + 1, Math.max(feed + 1, last));
  return feed + 1 + (behindFeed.lastIndexOf(carriageReturn) + 1);
}
