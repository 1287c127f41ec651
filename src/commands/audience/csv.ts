/** Reads a campaign file: converts bytes to UTF-8, and UTF-8 to rows with their line numbers. */
import { CsvError, Parser } from 'csv-parse';
import { isAscii, isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import {
  countTitles,
  type CsvDelimiter,
  type CsvDialect,
  detectDialect,
  findLines,
} from '../../domain/audience/csv.ts';
import { guessWesternEncoding, utf8Length } from '../../domain/audience/western-encoding.ts';
import { PreparationFailure } from '../../domain/audience/preparation-failure.ts';

// A CSV row, and the errors that make a file unreadable from some row onwards.

export type CsvRow =
  | { readonly line: number; readonly cells: readonly string[] }
  | { readonly line: number; readonly problem: string };

export const maxRecordBytes = 1024 * 1024;

const isBlankRow = (cells: readonly string[]): boolean => cells.every((cell) => cell.trim() === '');

function unreadableLine(line: number, problem: string): PreparationFailure {
  return new PreparationFailure('CSV_UNREADABLE', `Line ${line}: ${problem}`);
}

const recordTooLong = (line: number): PreparationFailure =>
  unreadableLine(
    line,
    `the record is longer than ${maxRecordBytes} characters; a quote may be left open: close it, or write it twice`,
  );

const notClosed = (line: number): PreparationFailure =>
  unreadableLine(line, 'a quote is opened and never closed: close it, or write it twice');

interface CsvParser {
  readonly read: (bytes: Buffer) => readonly CsvRow[];
  readonly end: () => readonly CsvRow[];
}

/** The cell that csv-parse is reading. */
interface CurrentCell {
  readonly buf: Buffer;
  readonly length: number;
  readonly append: (byte: number) => void;
  prepend: (quote: Buffer) => void;
}

function createCsvParser({ delimiter, hasSpacedQuotes }: CsvDialect): CsvParser {
  let rows: CsvRow[] = [];
  // The line on which the next record begins.
  let next = { line: 1, emptyLines: 0 };
  let opened = false;
  let failure: PreparationFailure | undefined;
  const nextLine = (): number => next.line + parser.info.empty_lines - next.emptyLines;

  const parser = new Parser({
    delimiter,
    ltrim: hasSpacedQuotes,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    // Keeps misplaced quotes as text, as spreadsheets do.
    relax_quotes: true,
    // For each empty line that it keeps, csv-parse builds an unused error object, which takes 20 µs.
    skip_empty_lines: true,
    max_record_size: maxRecordBytes,
  });
  // The parser puts back the opening quote of a cell whose second quote does not end it. If lines lie between the two, the
  // first quote was left open, and these lines are no part of the cell. The parser's own function would copy its whole buffer,
  // which is as large as the longest cell so far.
  const { field } = (parser as unknown as { readonly state: { readonly field: CurrentCell } }).state;
  field.prepend = ([quote = 0]) => {
    const given = field.length;
    const cell = field.buf.subarray(0, given);
    opened ||= cell.includes(0x0a) || cell.includes(0x0d);
    field.append(0);
    field.buf.copyWithin(1, 0, given);
    field.buf[0] = quote;
  };
  // Takes rows straight from the parser, because a stream in between would halve its speed.
  parser.push = (record: readonly string[] | null): boolean => {
    if (record === null) return true;
    const line = nextLine();
    const last = line + lineBreaks(record);
    if (opened) rows.push({ line, problem: openedUntil(line, last) });
    else if (!isBlankRow(record)) rows.push({ line, cells: record });
    opened = false;
    next = { line: last + 1, emptyLines: parser.info.empty_lines };
    return true;
  };
  parser.on('error', () => undefined);
  const run = (work: () => void): readonly CsvRow[] => {
    work();
    const { errored } = parser;
    if (failure === undefined && errored instanceof Error) failure = asFailure(errored, nextLine());
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

const openedUntil = (line: number, last: number): string =>
  `A quote that is opened on line ${line} and not closed there joins the lines ${line} to ${last}: close it, or write it twice`;

function asFailure(error: Error, line: number): PreparationFailure {
  if (!(error instanceof CsvError)) return unreadableLine(line, error.message);
  if (error.code === 'CSV_QUOTE_NOT_CLOSED') return notClosed(line);
  return error.code === 'CSV_MAX_RECORD_SIZE' ? recordTooLong(line) : unreadableLine(line, error.message);
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

/*
 * Parses CSV text chunk by chunk with csv-parse. Each row comes with the line of the file on which it begins. The rows of a quote
 * that is left open are reported as one and skipped; a quote that is never closed ends the reading.
 */

export interface CsvRowReader {
  /** Returns the rows that these bytes complete (UTF-8 without byte order mark). Throws PreparationFailure CSV_UNREADABLE. */
  readonly write: (bytes: Buffer) => readonly CsvRow[];
  readonly end: () => readonly CsvRow[];
  /** Undefined until the first rows. */
  readonly delimiter: () => CsvDelimiter | undefined;
}

/** As many lines show the delimiter, and titles above the header; fewer if they are long. */
const linesOfBeginning = 12;
const bytesOfBeginning = 64 * 1024;

/** Skips blank rows, and titles above the header. The first row is the header. */
export function createCsvRowReader(): CsvRowReader {
  const beginning: Buffer[] = [];
  let received = 0;
  let searched = 0;
  let dialect: CsvDialect | undefined;
  let parser: CsvParser | undefined;
  let begun = false;

  const withoutTitles = (rows: readonly CsvRow[]): readonly CsvRow[] => {
    if (begun || rows.length === 0) return rows;
    begun = true;
    const first: (readonly string[])[] = [];
    for (const row of rows.slice(0, linesOfBeginning)) {
      if ('problem' in row) break;
      first.push(row.cells);
    }
    return rows.slice(countTitles(first));
  };

  const parse = (bytes: Buffer, isLast: boolean): readonly CsvRow[] => {
    if (parser !== undefined) return parser.read(bytes);
    beginning.push(bytes);
    received += bytes.length;
    // Searches again only when twice as much has arrived; otherwise a long header would be searched once per chunk.
    if (!isLast && received < Math.min(2 * searched, maxRecordBytes)) return [];
    const text = Buffer.concat(beginning);
    searched = received;
    const lines = findLines(text.toString('utf8'), isLast, linesOfBeginning);
    const [first] = lines;
    const isEnough = isLast || lines.length === linesOfBeginning || received >= bytesOfBeginning;
    if (first === undefined || !isEnough) {
      if (received > maxRecordBytes) throw recordTooLong(1);
      return [];
    }
    dialect = detectDialect(lines);
    if (dialect.problem !== undefined) throw new PreparationFailure('CSV_UNREADABLE', dialect.problem);
    parser = createCsvParser(dialect);
    beginning.length = 0;
    if (!dialect.hasSeparatorLine) return parser.read(text);
    const end = text.indexOf(first) + Buffer.byteLength(first);
    // The line break of the separator line stays, so that line numbers match the file.
    return parser.read(text.subarray(end));
  };

  return {
    write: (bytes) => withoutTitles(parse(bytes, false)),
    end: () => {
      const rows = parse(Buffer.alloc(0), true);
      return withoutTitles(parser === undefined ? rows : [...rows, ...parser.end()]);
    },
    delimiter: () => dialect?.delimiter,
  };
}

/*
 * Converts the bytes of a campaign file to UTF-8. UTF-8 passes through unchanged; UTF-16 is recognised by its byte order mark or
 * its zeros, Windows-1252 and MacRoman by what their bytes would say. Anything else is refused rather than guessed.
 */

interface CsvTextDecoder {
  /** Throws PreparationFailure CSV_UNREADABLE. */
  readonly write: (bytes: Buffer) => Buffer;
  readonly end: () => Buffer;
}

type Encoding = 'unknown' | 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252' | 'macintosh';

const nothing = Buffer.alloc(0);
/** The first bytes, which show what kind of file it is. */
const bytesOfKind = 256;
/** The bytes from the first one that is not ASCII, by which a one-byte encoding is guessed. */
const bytesOfEncoding = 64 * 1024;

export function createCsvTextDecoder(): CsvTextDecoder {
  let encoding: Encoding = 'unknown';
  let begun = false;
  let held: Buffer = nothing;
  let decoder: TextDecoder | undefined;
  const lines = createLineCount();

  const pass = (text: Buffer): Buffer => {
    const zero = text.indexOf(0);
    if (zero !== -1) {
      lines.add(text.subarray(0, zero));
      throw unreadableLine(lines.current(), 'the file is not a text file: save it as "CSV UTF-8"');
    }
    lines.add(text);
    return text;
  };

  const decode = (bytes: Buffer, isLast: boolean): Buffer => {
    let text: Buffer;
    try {
      // Without `stream`, Node 20 decodes Windows-1252 as ISO 8859-1.
      const decoded = decoder?.decode(bytes, { stream: true }) ?? '';
      text = Buffer.from(isLast ? decoded + (decoder?.decode() ?? '') : decoded);
    } catch {
      const problem = `the text is not valid ${encoding.toUpperCase()}: save the file as "CSV UTF-8"`;
      throw unreadableLine(lines.current(), problem);
    }
    return pass(text);
  };

  const begin = (bytes: Buffer): Buffer => {
    begun = true;
    const kind = foreignKind(bytes);
    if (kind !== undefined) throw unreadable(kind);
    encoding = unicodeOf(bytes);
    if (encoding === 'utf-16le' || encoding === 'utf-16be')
      decoder = new TextDecoder(encoding, { fatal: true });
    return encoding === 'utf-8' ? withoutMarks(bytes) : bytes;
  };

  // A chunk may end inside a multi-byte character, whose beginning then waits for the rest.
  const passUtf8 = (bytes: Buffer, isLast: boolean): Buffer => {
    const whole = isLast ? bytes : bytes.subarray(0, wholeLength(bytes));
    const isText = isAscii(whole);
    if (isText || isUtf8(whole)) {
      if (!isText) encoding = 'utf-8';
      held = bytes.subarray(whole.length);
      return pass(whole);
    }
    const begins = bytes.findIndex((byte) => byte >= 0x80);
    if (encoding === 'unknown' && !isLast && bytes.length - begins < bytesOfEncoding) {
      held = bytes;
      return nothing;
    }
    const guessed =
      encoding === 'utf-8'
        ? undefined
        : guessWesternEncoding(bytes.subarray(Math.max(0, begins - 1), begins + bytesOfEncoding));
    if (guessed === undefined) {
      lines.add(bytes.subarray(0, firstInvalid(bytes)));
      throw unreadableLine(lines.current(), 'the text is not valid UTF-8: save the file as "CSV UTF-8"');
    }
    encoding = guessed;
    decoder = new TextDecoder(encoding);
    held = nothing;
    return decode(bytes, isLast);
  };

  const take = (chunk: Buffer, isLast: boolean): Buffer => {
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    held = nothing;
    if (!begun && bytes.length < bytesOfKind && !isLast) {
      held = bytes;
      return nothing;
    }
    const text = begun ? bytes : begin(bytes);
    return decoder === undefined ? passUtf8(text, isLast) : decode(text, isLast);
  };

  return { write: (bytes) => take(bytes, false), end: () => take(nothing, true) };
}

/** Counts the lines of a text that ends its lines by LF, CRLF or CR. */
function createLineCount() {
  const breaks = new Map([0x0a, 0x0d].map((byte) => [byte, 0]));
  return {
    add(text: Buffer): void {
      for (const [byte, count] of breaks) {
        let found = count;
        for (let at = text.indexOf(byte); at !== -1; at = text.indexOf(byte, at + 1)) found += 1;
        breaks.set(byte, found);
      }
    },
    current: (): number => 1 + Math.max(...breaks.values()),
  };
}

function unicodeOf(bytes: Buffer): Encoding {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  if (bytes.subarray(0, 3).equals(byteOrderMark)) return 'utf-8';
  const zeros = [0, 0];
  for (const [at, byte] of bytes.subarray(0, bytesOfKind).entries())
    if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  // Each Latin letter, digit and sign has a zero.
  if (4 * Math.max(even, odd) < Math.min(bytes.length, bytesOfKind)) return 'unknown';
  if (odd > 4 * even) return 'utf-16le';
  return even > 4 * odd ? 'utf-16be' : 'unknown';
}

const byteOrderMark = Buffer.of(0xef, 0xbb, 0xbf);

/** Some programs put a second mark before the first one. */
function withoutMarks(bytes: Buffer): Buffer {
  let at = 0;
  while (bytes.subarray(at, at + 3).equals(byteOrderMark)) at += 3;
  return bytes.subarray(at);
}

const exportAsCsv = 'export it as CSV, then upload the CSV';
const signatures: readonly (readonly [hex: string, problem: string])[] = [
  [
    '504b03',
    'a spreadsheet such as an Excel workbook (.xlsx), or an archive, not a CSV: save it as "CSV UTF-8"',
  ],
  ['504b05', 'an empty archive, not a CSV: save it as "CSV UTF-8"'],
  ['d0cf11e0', 'an Excel workbook (.xls), not a CSV: save it as "CSV UTF-8"'],
  ['25504446', `a PDF, not a CSV: ${exportAsCsv}`],
  ['1f8b', 'compressed, not a CSV: unpack it first'],
];
const beginnings: readonly (readonly [begin: RegExp, problem: string])[] = [
  [/^\{\\rtf/, 'a formatted text (RTF), not a CSV: save it as plain text'],
  [
    /^\s*<(?:!doctype|html|table|\?xml|meta|style)/i,
    'a web page or XML, not a CSV, whatever its name: open it in a spreadsheet and save it as "CSV UTF-8"',
  ],
  [/^\s*(?:\[\s*)?\{\s*"/, `JSON, not a CSV: ${exportAsCsv}`],
  [/^BEGIN:VCARD/i, `a list of vCards, not a CSV: ${exportAsCsv}`],
];

/** What a file is that is no CSV, by its first bytes. */
function foreignKind(bytes: Buffer): string | undefined {
  const first = withoutMarks(bytes).subarray(0, bytesOfKind);
  const [hex, text] = [first.toString('hex'), first.toString('latin1')];
  const problem =
    signatures.find(([signature]) => hex.startsWith(signature))?.[1] ??
    beginnings.find(([begin]) => begin.test(text))?.[1];
  return problem === undefined ? undefined : `The file is ${problem}`;
}

/** Returns the bytes without an unfinished character at the end. */
function wholeLength(bytes: Buffer): number {
  const earliest = Math.max(0, bytes.length - 4);
  for (let at = bytes.length - 1; at >= earliest; at -= 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) return bytes.length;
    if (byte >= 0xc0) return at + utf8Length(byte) > bytes.length ? at : bytes.length;
  }
  return bytes.length;
}

/** Position of the first byte that is no UTF-8. */
function firstInvalid(bytes: Buffer): number {
  let at = 0;
  while (at < bytes.length) {
    const length = (bytes[at] ?? 0) < 0x80 ? 1 : utf8Length(bytes[at] ?? 0);
    const character = bytes.subarray(at, at + length);
    if (length > 1 && (character.length < length || !isUtf8(character))) return at;
    at += length;
  }
  return at;
}

function unreadable(message: string): PreparationFailure {
  return new PreparationFailure('CSV_UNREADABLE', message);
}
