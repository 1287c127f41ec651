/**
 * CSV text to rows, driven chunk by chunk: rows come out as their bytes go in, with the physical line they begin on.
 * A row whose quotes are wrong is reported and left out; a quote that is never closed ends the reading.
 */
import { CsvError, Parser } from 'csv-parse';
import { detectDialect, findHeaderLine } from '../domain/csv-dialect.ts';
import { PreparationFailure } from '../domain/preparation-failure.ts';

export type CsvRow =
  | { readonly line: number; readonly cells: readonly string[] }
  | { readonly line: number; readonly problem: string };

export interface CsvRowReader {
  /** The rows that these bytes (UTF-8, without byte order mark) complete. Throws PreparationFailure CSV_UNREADABLE. */
  readonly write: (bytes: Buffer) => readonly CsvRow[];
  readonly end: () => readonly CsvRow[];
}

const maxRecordBytes = 1024 * 1024;

/** Blank rows are left out. The first row is the header. */
export function createCsvRowReader(): CsvRowReader {
  let beginning: Buffer | undefined = Buffer.alloc(0);
  let parser: LineParser | undefined;

  const parse = (bytes: Buffer, isLast: boolean): readonly CsvRow[] => {
    if (parser !== undefined) return parser.read(bytes);
    beginning = Buffer.concat([beginning ?? Buffer.alloc(0), bytes]);
    const headerLine = findHeaderLine(beginning.toString('utf8'), isLast);
    if (headerLine === undefined) {
      if (beginning.length > maxRecordBytes) throw tooLong(1);
      return [];
    }
    const { delimiter, hasSeparatorLine } = detectDialect(headerLine);
    parser = createLineParser(delimiter);
    const text = beginning;
    beginning = undefined;
    if (!hasSeparatorLine) return parser.read(text);
    const end = text.indexOf(headerLine) + Buffer.byteLength(headerLine);
    // The line is emptied but stays a line, so that line numbers stay those of the file.
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

interface LineParser {
  readonly read: (bytes: Buffer) => readonly CsvRow[];
  readonly end: () => readonly CsvRow[];
}

/** What the parser holds of the record it is in; a new array is a new record. */
interface ParserState {
  quoting: boolean;
  readonly record: readonly string[];
  readonly field: { readonly toString: (encoding: 'utf8') => string };
}

function createLineParser(delimiter: string): LineParser {
  let rows: CsvRow[] = [];
  // The line that the next record begins on: in the file, and as the parser counts (it counts CRLF inside quotes twice).
  let next = { line: 1, parserLine: 1 };
  let broken: readonly string[] | undefined;
  let failure: PreparationFailure | undefined;

  const lineOf = (cells: readonly string[]): number =>
    next.line + parser.info.lines - breaksAsParser(cells) - next.parserLine;

  const leaveOut = (error: CsvError): void => {
    const { state } = parser as unknown as { readonly state: ParserState };
    const { record, field } = state;
    // The parser would look for the end of the quotes through all the rows that follow.
    if (error.code === 'CSV_INVALID_CLOSING_QUOTE') state.quoting = false;
    if (broken === record) return;
    const line = broken === undefined ? next.line : lineOf([...record, field.toString('utf8')]);
    if (error.code === 'CSV_MAX_RECORD_SIZE') throw tooLong(line);
    if (error.code === 'CSV_QUOTE_NOT_CLOSED') throw notClosed(line);
    broken = record;
    rows.push({ line, problem: 'The quotes of this row are not those of a CSV' });
  };
  const parser = new Parser({
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    max_record_size: maxRecordBytes,
    skip_records_with_error: true,
    on_skip: (error) => {
      if (error !== undefined) leaveOut(error);
    },
  });
  // Rows are taken where the parser makes them: a stream between the two would cost half of its speed.
  parser.push = (record: readonly string[] | null): boolean => {
    if (record === null) return true;
    // Behind a row that was left out only the parser knows the line; elsewhere the count is our own.
    const line = broken === undefined ? next.line : lineOf(record);
    broken = undefined;
    if (!isBlank(record)) rows.push({ line, cells: record });
    next = { line: line + 1 + lineBreaks(record), parserLine: parser.info.lines + 1 };
    return true;
  };
  parser.on('error', () => undefined);
  const run = (work: () => void): readonly CsvRow[] => {
    work();
    const { errored } = parser;
    if (failure === undefined && errored instanceof Error) failure = asFailure(errored, next.line);
    if (failure !== undefined) throw failure;
    const taken = rows;
    rows = [];
    return taken;
  };
  return {
    read: (bytes) => run(() => void parser.write(bytes)),
    end: () => run(() => void parser.end()),
  };
}

function asFailure(error: Error, line: number): PreparationFailure {
  if (error instanceof PreparationFailure) return error;
  if (error instanceof CsvError && error.code === 'CSV_QUOTE_NOT_CLOSED') return notClosed(line);
  return unreadable(line, error.message);
}

/** Line breaks inside the quoted cells of one row. */
function lineBreaks(record: readonly string[]): number {
  let breaks = 0;
  for (const cell of record) {
    if (!cell.includes('\n') && !cell.includes('\r')) continue;
    breaks += cell.match(/\r\n|\r|\n/g)?.length ?? 0;
  }
  return breaks;
}

function breaksAsParser(cells: readonly string[]): number {
  return cells.reduce((breaks, cell) => breaks + (cell.match(/[\r\n]/g)?.length ?? 0), 0);
}

const isBlank = (record: readonly string[]): boolean => record.every((cell) => cell.trim() === '');

const tooLong = (line: number) =>
  unreadable(line, `the record is longer than ${maxRecordBytes} characters; a quote may be left open`);

const notClosed = (line: number) => unreadable(line, 'a quote is opened and never closed');

function unreadable(line: number, problem: string): PreparationFailure {
  return new PreparationFailure('CSV_UNREADABLE', `Line ${line}: ${problem}`);
}
