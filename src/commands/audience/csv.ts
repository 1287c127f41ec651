/** Reads a campaign file: converts bytes to UTF-8, and UTF-8 to rows with their line numbers. */
import { CsvError, Parser } from 'csv-parse';
import { isAscii, isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { detectDialect, findHeaderLine } from '../../domain/audience/csv.ts';
import { PreparationFailure } from '../../domain/audience/preparation-failure.ts';

// A CSV row, and the errors that make a file unreadable from some row onwards.

export type CsvRow =
  | { readonly line: number; readonly cells: readonly string[] }
  | { readonly line: number; readonly problem: string };

export const maxRecordBytes = 1024 * 1024;

const isBlankRow = (cells: readonly string[]): boolean => cells.every((cell) => cell.trim() === '');

const recordTooLong = (line: number): PreparationFailure =>
  unreadableLine(line, `the record is longer than ${maxRecordBytes} characters; a quote may be left open`);

function unreadableLine(line: number, problem: string): PreparationFailure {
  return new PreparationFailure('CSV_UNREADABLE', `Line ${line}: ${problem}`);
}

interface CsvParser {
  readonly read: (bytes: Buffer) => readonly CsvRow[];
  readonly end: () => readonly CsvRow[];
}

/** The parts of csv-parse's state read here. `record` has the cells of the current record; a new array means a new record. */
interface ParserState {
  quoting: boolean;
  readonly record: readonly string[];
  readonly field: { readonly toString: (encoding: 'utf8') => string };
}

function createCsvParser(delimiter: string): CsvParser {
  let rows: CsvRow[] = [];
  // The line on which the next record begins, in the file and by the parser's count (which counts CRLF inside quotes twice).
  let next = { line: 1, parserLine: 1, emptyLines: 0 };
  let broken: readonly string[] | undefined;
  let failure: PreparationFailure | undefined;

  /** Line of the next record by our own count. After a skipped row, only the parser's count is right (`lineOf`). */
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
    // For each empty line that it keeps, csv-parse builds an unused error object, which takes 20 µs.
    skip_empty_lines: true,
    max_record_size: maxRecordBytes,
    skip_records_with_error: true,
    on_skip: (error) => {
      if (error !== undefined) leaveOut(error);
    },
  });
  // Takes rows straight from the parser, because a stream in between would halve its speed.
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

/** Counts the line breaks inside the quoted cells of one row. */
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

/*
 * Parses CSV text chunk by chunk with csv-parse. Each row comes with the line of the file on which it begins. A row with
 * misplaced quotes is reported and skipped; a quote that is never closed ends the reading.
 */

interface CsvRowReader {
  /** Returns the rows that these bytes complete (UTF-8 without byte order mark). Throws PreparationFailure CSV_UNREADABLE. */
  readonly write: (bytes: Buffer) => readonly CsvRow[];
  readonly end: () => readonly CsvRow[];
}

/** Skips blank rows. The first row is the header. */
export function createCsvRowReader(): CsvRowReader {
  const beginning: Buffer[] = [];
  let received = 0;
  let searched = 0;
  let parser: CsvParser | undefined;

  const parse = (bytes: Buffer, isLast: boolean): readonly CsvRow[] => {
    if (parser !== undefined) return parser.read(bytes);
    beginning.push(bytes);
    received += bytes.length;
    // Searches again only when twice as much has arrived; otherwise a long header would be searched once per chunk.
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
    // The line break of the separator line stays, so that line numbers match the file.
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

/*
 * Converts the bytes of a campaign file to UTF-8. UTF-8 passes through unchanged; UTF-16 is recognised by its byte order mark,
 * Windows-1252 by bytes that cannot be UTF-8 and make sense in Windows-1252. Anything else is refused rather than guessed.
 */

interface CsvTextDecoder {
  /** Throws PreparationFailure CSV_UNREADABLE. */
  readonly write: (bytes: Buffer) => Buffer;
  readonly end: () => Buffer;
}

type Encoding = 'unknown' | 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

const nothing = Buffer.alloc(0);

export function createCsvTextDecoder(): CsvTextDecoder {
  let encoding: Encoding = 'unknown';
  let begun = false;
  let held: Buffer = nothing;
  let decoder: TextDecoder | undefined;

  const decode = (bytes: Buffer, stream: boolean): Buffer => {
    try {
      return checked(Buffer.from(decoder?.decode(bytes, { stream }) ?? ''));
    } catch (error) {
      if (error instanceof PreparationFailure) throw error;
      throw unreadable(`The file is not valid ${encoding.toUpperCase()}`);
    }
  };

  const begin = (bytes: Buffer): Buffer => {
    begun = true;
    if (bytes.subarray(0, 4).equals(Buffer.of(0x50, 0x4b, 3, 4))) {
      throw unreadable('The file is a spreadsheet or an archive, not a CSV: save it as CSV');
    }
    if (bytes[0] === 0xff && bytes[1] === 0xfe) encoding = 'utf-16le';
    if (bytes[0] === 0xfe && bytes[1] === 0xff) encoding = 'utf-16be';
    if (encoding !== 'unknown') decoder = new TextDecoder(encoding, { fatal: true });
    const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    if (hasMark) encoding = 'utf-8';
    return hasMark ? bytes.subarray(3) : bytes;
  };

  // A chunk may end inside a multi-byte character, whose beginning then waits for the rest.
  const passUtf8 = (bytes: Buffer, isLast: boolean): Buffer => {
    const whole = isLast ? bytes : bytes.subarray(0, wholeLength(bytes));
    if (isAscii(whole)) {
      held = bytes.subarray(whole.length);
      return checked(whole);
    }
    if (isUtf8(whole)) {
      encoding = 'utf-8';
      held = bytes.subarray(whole.length);
      return checked(whole);
    }
    if (encoding === 'utf-8' || !isSurelyWindows1252(bytes)) {
      throw unreadable('The file is not valid UTF-8: save it as "CSV UTF-8"');
    }
    encoding = 'windows-1252';
    decoder = new TextDecoder(encoding);
    held = nothing;
    return decode(bytes, !isLast);
  };

  const take = (chunk: Buffer, isLast: boolean): Buffer => {
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    held = nothing;
    if (!begun && bytes.length < 4 && !isLast) {
      held = bytes;
      return nothing;
    }
    const text = begun ? bytes : begin(bytes);
    return decoder === undefined ? passUtf8(text, isLast) : decode(text, !isLast);
  };

  return { write: (bytes) => take(bytes, false), end: () => take(nothing, true) };
}

function checked(text: Buffer): Buffer {
  if (text.includes(0)) throw unreadable('The file is not a text file: save it as "CSV UTF-8"');
  return text;
}

/** Returns the bytes without an unfinished character at the end. */
function wholeLength(bytes: Buffer): number {
  const earliest = Math.max(0, bytes.length - 4);
  for (let at = bytes.length - 1; at >= earliest; at -= 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) return bytes.length;
    if (byte >= 0xc0) return at + characterLength(byte) > bytes.length ? at : bytes.length;
  }
  return bytes.length;
}

function characterLength(firstByte: number): number {
  if (firstByte >= 0xf0) return 4;
  return firstByte >= 0xe0 ? 3 : 2;
}

const undefinedInWindows1252 = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);

/** True for bytes that occur in text and rarely form a UTF-8 character with their neighbours. */
function isSurelyWindows1252(bytes: Buffer): boolean {
  let characters = 0;
  let strays = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) return false;
    if (byte === 0x7f || undefinedInWindows1252.has(byte)) return false;
    if (byte < 0x80) continue;
    if (byte >= 0xc2 && isUtf8Character(bytes, at)) {
      characters += 1;
      at += characterLength(byte) - 1;
    } else {
      strays += 1;
    }
  }
  return strays > 2 * characters;
}

function isUtf8Character(bytes: Buffer, at: number): boolean {
  const length = characterLength(bytes[at] ?? 0);
  const character = bytes.subarray(at, at + length);
  return character.length === length && isUtf8(character);
}

function unreadable(message: string): PreparationFailure {
  return new PreparationFailure('CSV_UNREADABLE', message);
}
