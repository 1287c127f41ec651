/**
 * Parses a CSV with csv-parse. A row with wrong quotes is reported and left out; a quote that is never closed ends the
 * reading.
 */
import { CsvError, Parser } from 'csv-parse';
import { PreparationFailure } from '../../domain/audience/preparation-failure.ts';
import { isBlankRow, maxRecordBytes, recordTooLong, unreadableLine, type CsvRow } from './csv-row.ts';

export interface CsvParser {
  readonly read: (bytes: Buffer) => readonly CsvRow[];
  readonly end: () => readonly CsvRow[];
}

/** The parts of csv-parse's state that are read here. `record`: cells of the current record; a new array means a new record. */
interface ParserState {
  quoting: boolean;
  readonly record: readonly string[];
  readonly field: { readonly toString: (encoding: 'utf8') => string };
}

export function createCsvParser(delimiter: string): CsvParser {
  let rows: CsvRow[] = [];
  // The line that the next record begins on: in the file, and as the parser counts (it counts CRLF inside quotes twice).
  let next = { line: 1, parserLine: 1, emptyLines: 0 };
  let broken: readonly string[] | undefined;
  let failure: PreparationFailure | undefined;

  /** Line of the next record by our own count. After a row that was left out only the parser's count is right (`lineOf`). */
  const ownLine = (): number => next.line + parser.info.empty_lines - next.emptyLines;

  const lineOf = (cells: readonly string[]): number =>
    next.line + parser.info.lines - breaksAsParser(cells) - next.parserLine;

  const leaveOut = (error: CsvError): void => {
    const { state } = parser as unknown as { readonly state: ParserState };
    const { record, field } = state;
    // Without this the parser would read all following rows as part of the quoted cell.
    if (error.code === 'CSV_INVALID_CLOSING_QUOTE') state.quoting = false;
    if (broken === record) return;
    const line = broken === undefined ? ownLine() : lineOf([...record, field.toString('utf8')]);
    if (error.code === 'CSV_MAX_RECORD_SIZE') throw recordTooLong(line);
    if (error.code === 'CSV_QUOTE_NOT_CLOSED') throw notClosed(line);
    broken = record;
    rows.push({ line, problem: 'The quotes of this row are not those of a CSV' });
  };
  const parser = new Parser({
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    // For each empty line that is kept, csv-parse builds an error object that is not used: 20 µs a line.
    skip_empty_lines: true,
    max_record_size: maxRecordBytes,
    skip_records_with_error: true,
    on_skip: (error) => {
      if (error !== undefined) leaveOut(error);
    },
  });
  // Rows are taken where the parser makes them: a stream between the two would cost half of its speed.
  parser.push = (record: readonly string[] | null): boolean => {
    if (record === null) return true;
    const line = broken === undefined ? ownLine() : lineOf(record);
    broken = undefined;
    if (!isBlankRow(record)) rows.push({ line, cells: record });
    next = {
      line: line + 1 + lineBreaks(record),
      parserLine: parser.info.lines + 1,
      emptyLines: parser.info.empty_lines,
    };
    return true;
  };
  parser.on('error', () => undefined);
  const run = (work: () => void): readonly CsvRow[] => {
    work();
    const { errored } = parser;
    if (failure === undefined && errored instanceof Error) failure = asFailure(errored, ownLine());
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
  return unreadableLine(line, error.message);
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

const notClosed = (line: number) => unreadableLine(line, 'a quote is opened and never closed');
