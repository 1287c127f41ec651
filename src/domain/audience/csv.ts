/** Reads a campaign's CSV: which columns its mapping names, and what a row says about a person (Spec 4.1, csv_mapping). */
import type { FieldProblem } from '../error.ts';
import { isPhoneNumber, readNumber } from '../phone-number.ts';
import type { Candidate, Person } from './candidate.ts';
import { completeConsent, type ConsentMapping, consentReader } from './consent-column.ts';

/** Maximum number of custom columns in a mapping: as many as a contact may have custom fields. */
export const mostCustomColumns = 200;
/** Maximum length of a custom column's name in characters; the same as for a contact's `fieldId`. */
export const maxColumnName = 255;

/** True for a name that a contact's custom field may have. */
export const isColumnName = (name: string): boolean =>
  name !== '' && name.length <= maxColumnName && name !== '__proto__';

/** 0-based column indexes. */
export interface CsvMapping {
  readonly phone_column: number;
  readonly country_code_column: number;
  readonly name_column?: number | null | undefined;
  readonly email_column?: number | null | undefined;
  readonly custom_field_mapping?: Readonly<Record<string, number>> | null | undefined;
  /** ISO 3166 alpha-2: the country of numbers that name none. */
  readonly default_country?: string | null | undefined;
  readonly consent?: ConsentMapping | null | undefined;
}

type NamedColumn = readonly [name: string, column: number];

const customColumns = ({ custom_field_mapping: custom }: CsvMapping): readonly NamedColumn[] =>
  Object.entries(custom ?? {});

/** The names a variable mapping may use, with their columns; names of custom fields win. */
export function csvKeys(mapping: CsvMapping): ReadonlyMap<string, number> {
  const keys = new Map<string, number>();
  if (mapping.name_column != null) keys.set('name_column', mapping.name_column);
  if (mapping.email_column != null) keys.set('email_column', mapping.email_column);
  for (const [name, column] of customColumns(mapping)) keys.set(name, column);
  return keys;
}

/** Returns a problem for every column that the header lacks; `parent` is the field of the mapping. */
export function columnProblems(
  mapping: CsvMapping,
  columnCount: number,
  parent = 'csv_mapping',
): readonly FieldProblem[] {
  const { phone_column, country_code_column, name_column, email_column } = mapping;
  const fixed = Object.entries({ phone_column, country_code_column, name_column, email_column });
  const custom = customColumns(mapping).map(([name, column]): NamedColumn => [
    `custom_field_mapping.${name}`,
    column,
  ]);
  const consent = Object.entries(mapping.consent ?? {}).flatMap(([name, value]): readonly NamedColumn[] =>
    typeof value === 'number' ? [[`consent.${name}`, value]] : [],
  );
  return outOfRange(parent, [...fixed, ...custom, ...consent], columnCount);
}

/** A problem for each column, by the name of its field, that the header lacks. */
export const outOfRange = (
  parent: string,
  columns: readonly (readonly [name: string, column: number | null | undefined])[],
  columnCount: number,
): readonly FieldProblem[] =>
  columns.flatMap(([name, column]) => {
    if (column == null || column < columnCount) return [];
    const field = `${parent}.${name}`;
    const last = columnCount - 1;
    return [{ field, message: `${field} is ${column}, but the last column of the CSV is ${last}` }];
  });

export type CsvRowReading = (cells: readonly string[], line: number) => Candidate;

/** Reads rows under a header. */
export function csvCandidateReader(mapping: CsvMapping, headers: readonly string[]): CsvRowReading {
  const { phone_column: phoneColumn, country_code_column: countryColumn } = mapping;
  const defaultCountry = mapping.default_country ?? '';
  const readPerson = personReader(mapping);
  const readConsent =
    mapping.consent == null ? undefined : consentReader(completeConsent(mapping.consent, headers));
  return (cells, line) => {
    const given = cells[phoneColumn] ?? '';
    const malformed = malformation(cells, phoneColumn, headers.length);
    if (malformed !== undefined) return { line, given, phone: undefined, row: cells, malformed };
    // For a file with international numbers, the mapping names the phone column as the country column too.
    const country = countryColumn === phoneColumn ? '' : (cells[countryColumn] ?? '');
    const reading = readNumber(given, country, defaultCountry);
    if (!isPhoneNumber(reading))
      return { line, given, phone: undefined, problem: reading.problem, row: cells };
    const candidate = { line, given, phone: reading, row: cells, person: readPerson(cells) };
    const consent = readConsent?.(cells);
    return consent === undefined ? candidate : { ...candidate, consent };
  };
}

function malformation(cells: readonly string[], phoneColumn: number, columns: number): string | undefined {
  if (cells.length <= phoneColumn) return 'The row has no cell for the phone column';
  // Spreadsheets add empty cells at the end; surplus cells with content mean that the row does not line up with the header.
  const isSurplus = cells.length > columns && cells.slice(columns).some((cell) => cell.trim() !== '');
  return isSurplus ? 'The row has more cells than the header' : undefined;
}

const longestField = 255;
const cut = (text: string | undefined): string => (text ?? '').trim().slice(0, longestField).toWellFormed();

function personReader(mapping: CsvMapping): (cells: readonly string[]) => Person | undefined {
  const { name_column: nameColumn, email_column: emailColumn } = mapping;
  const custom = customColumns(mapping);
  if (nameColumn == null && emailColumn == null && custom.length === 0) return () => undefined;
  return (cells) => {
    // The fields are written out, because spreading an object would cost as much as the rest of a row's preparation.
    const { firstName, lastName } = splitName(nameColumn == null ? '' : cut(cells[nameColumn]));
    return {
      firstName,
      lastName,
      email: emailColumn == null ? '' : cut(cells[emailColumn]),
      customFields: custom.length === 0 ? undefined : readCustomFields(cells, custom),
    };
  };
}

function readCustomFields(
  cells: readonly string[],
  custom: readonly NamedColumn[],
): Readonly<Record<string, string>> {
  const fields: (readonly [string, string])[] = [];
  for (const [name, column] of custom) {
    const value = cut(cells[column]);
    if (value !== '') fields.push([name, value]);
  }
  return Object.fromEntries(fields);
}

/** Words after a comma that are not a first name, compared without dots. */
const nameSuffixes = new Set(
  'jr sr jun sen ii iii iv v md dds dvm rn phd dphil drphil edd jd llm llb mba msc bsc ma ba mag dipl-ing esq cpa pe dr prof inc llc llp ltd limited corp co company gmbh ag kg ug ek sa sas sarl srl spa bv nv oy ab plc pty'.split(
    ' ',
  ),
);
const isNameSuffix = (part: string): boolean =>
  part.split(/\s+/).every((word) => nameSuffixes.has(word.toLowerCase().replaceAll('.', '')));

/**
 * Without a comma the first word is the first name, the rest the last name. `Smith, John` and `Smith, John, Jr.` name the last
 * name first; `John Smith, PhD` does not.
 */
function splitName(name: string): { readonly firstName: string; readonly lastName: string } {
  const [last = '', first = '', ...rest] = name.includes(',') || name.includes('，') ? partsOf(name) : [name];
  if (first !== '' && !isNameSuffix(first) && rest.every(isNameSuffix))
    return { firstName: first, lastName: [last, ...rest].join(', ') };
  const whole = [last, first, ...rest].filter((part) => part !== '').join(', ');
  const space = whole.search(/\s/);
  if (space === -1) return { firstName: whole, lastName: '' };
  return { firstName: whole.slice(0, space).replace(/,$/, ''), lastName: whole.slice(space).trim() };
}

const partsOf = (name: string): readonly string[] =>
  name
    .split(/[,，]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');

// Detects the delimiter from the beginning of a CSV, or from the line in which Excel names it.

const csvDelimiters = [',', ';', '\t', '|'] as const;
export type CsvDelimiter = (typeof csvDelimiters)[number];

export interface CsvDialect {
  readonly delimiter: CsvDelimiter;
  /** The first line only names the delimiter (`sep=;`); the header is the second. */
  readonly hasSeparatorLine: boolean;
  /** Cells in quotes have spaces before them (`Ada, "Bonn"`). */
  readonly hasSpacedQuotes: boolean;
  /** Why a file that begins with these lines cannot be read. */
  readonly problem?: string;
}

const separatorLine = /^"?sep=(.)"?\r?$/i;
const spacedQuotes: Readonly<Record<CsvDelimiter, RegExp>> = {
  ',': /, +"/,
  ';': /; +"/,
  '\t': /\t +"/,
  '|': /\| +"/,
};

/**
 * Returns the delimiter of a CSV that begins with these lines: the most frequent one outside quotes in the first line whose
 * delimiter most of the following lines have too, because titles may come before the header; a comma if there is none.
 */
export function detectDialect(lines: readonly string[]): CsvDialect {
  const [first = '', ...rest] = lines;
  const named = separatorLine.exec(first)?.[1];
  const given = csvDelimiters.find((candidate) => candidate === named);
  const counts = lines.map(countDelimiters);
  const delimiter = given ?? delimiterOf(counts);
  const dialect = {
    delimiter,
    hasSeparatorLine: given !== undefined,
    hasSpacedQuotes: lines.some((line) => spacedQuotes[delimiter].test(line)),
  };
  const problem =
    named !== undefined && given === undefined
      ? `Line 1: "sep=${named}" names a delimiter that is not read: save the file with commas, semicolons, tabs or |`
      : wrappedProblem(given === undefined ? lines : rest);
  return problem === undefined ? dialect : { ...dialect, problem };
}

type DelimiterCounts = Readonly<Record<CsvDelimiter, number>>;

function delimiterOf(counts: readonly DelimiterCounts[]): CsvDelimiter {
  const found = counts.find((line, at) => {
    const delimiter = mostFrequent(line);
    const rest = counts.slice(at + 1);
    return line[delimiter] > 0 && 2 * rest.filter((other) => other[delimiter] > 0).length >= rest.length;
  });
  return mostFrequent(found ?? counts[0] ?? countDelimiters(''));
}

const mostFrequent = (counts: DelimiterCounts): CsvDelimiter =>
  csvDelimiters.reduce((first, second) => (counts[second] > counts[first] ? second : first));

function countDelimiters(line: string): DelimiterCounts {
  const counts: Record<CsvDelimiter, number> = { ',': 0, ';': 0, '\t': 0, '|': 0 };
  const isQuoted = createQuoteReader();
  for (const character of line) {
    if (!isQuoted(character) && isDelimiter(character)) counts[character] += 1;
  }
  return counts;
}

const isDelimiter = (character: string): character is CsvDelimiter =>
  character === ',' || character === ';' || character === '\t' || character === '|';

/** Takes a text character by character; returns true inside quotes. A quote opens a cell only at its beginning. */
function createQuoteReader(): (character: string) => boolean {
  let quoted = false;
  let opens = true;
  return (character) => {
    const isQuote = character === '"';
    if (isQuote) quoted = !quoted && opens;
    // A second quote directly behind the closing one belongs to the cell.
    opens = isQuote || (opens && character === ' ') || isDelimiter(character) || isLineBreak(character);
    return quoted;
  };
}

const isLineBreak = (character: string): boolean => character === '\n' || character === '\r';

/** Some programs put each whole line in quotes. */
function wrappedProblem(lines: readonly string[]): string | undefined {
  if (lines.length < 2 || !lines.every((line) => /^"(?:[^"]|"")*"\r?$/.test(line))) return undefined;
  const inner = lines.map((line) =>
    countDelimiters(line.slice(1, line.lastIndexOf('"')).replaceAll('""', '"')),
  );
  const [first, ...others] = inner;
  if (first === undefined) return undefined;
  const delimiter = mostFrequent(first);
  if (first[delimiter] === 0 || others.some((line) => line[delimiter] !== first[delimiter])) return undefined;
  return 'Line 1: the whole line is in quotes, so the file has only one column: remove the outer quotes of each line, or save the file as CSV again';
}

/** Returns the first lines that are not blank, each up to a line break outside quotes; the last one if it is complete. */
export function findLines(text: string, isWhole: boolean, most: number): readonly string[] {
  const lines: string[] = [];
  const isQuoted = createQuoteReader();
  let begin = 0;
  for (let at = 0; at < text.length && lines.length < most; at += 1) {
    const character = text.charAt(at);
    if (isQuoted(character) || !isLineBreak(character)) continue;
    const line = text.slice(begin, at);
    if (line.trim() !== '') lines.push(line);
    begin = at + 1;
  }
  const rest = text.slice(begin);
  return isWhole && lines.length < most && rest.trim() !== '' ? [...lines, rest] : lines;
}

/**
 * Returns how many of the first rows are titles above the header: rows with hardly a cell, followed by a wider row. A row with a
 * number in it is a person, never the header.
 */
export function countTitles(rows: readonly (readonly string[])[]): number {
  const filled = rows.map((cells) => cells.filter((cell) => cell.trim() !== '').length);
  const widest = Math.max(...filled);
  const header = filled.findIndex(
    (count) => count > 0 && !(count === 1 ? widest > 1 : count === 2 && widest > 4),
  );
  const isPerson =
    rows[header]?.some((cell) => (cell.match(/\d/g)?.length ?? 0) >= leastDigitsOfNumber) === true;
  return header === -1 || isPerson ? 0 : header;
}

const leastDigitsOfNumber = 5;

// Limits the excerpt of a CSV in a response: a hostile file may have half a million columns, or cells of a megabyte.

export const mostShownColumns = 500;

const longestCell = 255;
/** Maximum length of all column names together, in characters. */
const mostOfHeaders = 8_192;
/** Maximum size of a response with its rows, in bytes of JSON. */
const mostBytes = 60 * 1024;

/** Removes control characters: each takes six bytes in JSON and is invisible. */
const excerpt = (text: string, most: number): string =>
  text
    .slice(0, most)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, ' ');

/** Returns the names of the first columns, shortened if they are long. */
export function excerptHeaders(headers: readonly string[]): readonly string[] {
  const shown = headers.slice(0, mostShownColumns);
  const all = shown.reduce((sum, { length }) => sum + length, 0);
  const most = all > mostOfHeaders ? Math.floor(mostOfHeaders / shown.length) : longestCell;
  return shown.map((header) => excerpt(header, most));
}

/** Returns the first columns of a row. */
export function excerptCells(cells: readonly string[]): readonly string[] {
  return cells.slice(0, mostShownColumns).map((cell) => excerpt(cell, longestCell));
}

/** Returns as many of the first rows as fit into a response that also contains `rest`. */
export function excerptRows<R>(rows: readonly R[], rest: object): readonly R[] {
  const encoder = new TextEncoder();
  const bytesOf = (value: unknown) => encoder.encode(JSON.stringify(value)).length;
  const shown: R[] = [];
  let bytes = bytesOf(rest);
  for (const row of rows) {
    bytes += bytesOf(row);
    if (bytes > mostBytes) break;
    shown.push(row);
  }
  return shown;
}
