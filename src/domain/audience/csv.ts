/** Reads a campaign's CSV: which columns its mapping names, and what a row says about a person (Spec 4.1, csv_mapping). */
import type { FieldProblem } from '../error.ts';
import { callingCodeFor, normalisePhoneNumber } from '../phone-number.ts';
import type { Candidate, Person } from './candidate.ts';

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

/** Returns a problem for every column that the header lacks. */
export function columnProblems(mapping: CsvMapping, columnCount: number): readonly FieldProblem[] {
  const { phone_column, country_code_column, name_column, email_column } = mapping;
  const fixed = Object.entries({ phone_column, country_code_column, name_column, email_column });
  const custom = customColumns(mapping).map(([name, column]): NamedColumn => [
    `custom_field_mapping.${name}`,
    column,
  ]);
  return [...fixed, ...custom].flatMap(([name, column]) => {
    if (column == null || column < columnCount) return [];
    const field = `csv_mapping.${name}`;
    const last = columnCount - 1;
    return [{ field, message: `${field} is ${column}, but the last column of the CSV is ${last}` }];
  });
}

export type CsvRowReading = (cells: readonly string[], line: number) => Candidate;

/** Reads rows under a header of `columnCount` cells. */
export function csvCandidateReader(mapping: CsvMapping, columnCount: number): CsvRowReading {
  const { phone_column: phoneColumn, country_code_column: countryColumn } = mapping;
  const readPerson = personReader(mapping);
  return (cells, line) => {
    const given = cells[phoneColumn] ?? '';
    const malformed = malformation(cells, phoneColumn, columnCount);
    if (malformed !== undefined) return { line, given, phone: undefined, row: cells, malformed };
    const country = cells[countryColumn] ?? '';
    const phone = normalisePhoneNumber(given, country);
    // For a file with international numbers, the mapping names the phone column as the country column too.
    const hasOwnCountry = countryColumn !== phoneColumn && country.trim() !== '';
    if (phone === undefined && hasOwnCountry && callingCodeFor(country) === undefined) {
      return { line, given: `country code ${country}`, phone, row: cells };
    }
    return { line, given, phone, row: cells, person: readPerson(cells) };
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

/** The first word is the first name, the rest the last name. */
function splitName(name: string): { readonly firstName: string; readonly lastName: string } {
  const space = name.search(/\s/);
  if (space === -1) return { firstName: name, lastName: '' };
  return { firstName: name.slice(0, space), lastName: name.slice(space).trim() };
}

// Detects the delimiter from the beginning of a CSV, or from the line in which Excel names it.

const csvDelimiters = [',', ';', '\t', '|'] as const;
export type CsvDelimiter = (typeof csvDelimiters)[number];

interface CsvDialect {
  readonly delimiter: CsvDelimiter;
  /** The first line only names the delimiter (`sep=;`); the header is the second. */
  readonly hasSeparatorLine: boolean;
}

const separatorLine = /^"?sep=([,;\t|])"?\r?$/i;

/** Returns the most frequent delimiter outside quotes in the header line; a comma if there is none. */
export function detectDialect(headerLine: string): CsvDialect {
  const named = separatorLine.exec(headerLine)?.[1];
  const delimiter = csvDelimiters.find((candidate) => candidate === named);
  if (delimiter !== undefined) return { delimiter, hasSeparatorLine: true };
  const counts = new Map<string, number>(csvDelimiters.map((candidate) => [candidate, 0]));
  let quoted = false;
  for (const character of headerLine) {
    if (character === '"') quoted = !quoted;
    const count = quoted ? undefined : counts.get(character);
    if (count !== undefined) counts.set(character, count + 1);
  }
  const count = (candidate: string) => counts.get(candidate) ?? 0;
  const best = csvDelimiters.reduce((first, second) => (count(second) > count(first) ? second : first));
  return { delimiter: best, hasSeparatorLine: false };
}

/** Returns the first line that is not blank, up to a line break outside quotes; undefined while it is incomplete. */
export function findHeaderLine(text: string, isWhole: boolean): string | undefined {
  let begin = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    // A quote opens a quoted cell only at the beginning of the cell.
    if (character === '"') quoted = !quoted && (at === begin || ',;\t|"'.includes(text.charAt(at - 1)));
    if (quoted || (character !== '\n' && character !== '\r')) continue;
    const line = text.slice(begin, at);
    if (line.trim() !== '') return line;
    begin = at + 1;
  }
  const rest = text.slice(begin);
  return isWhole && rest.trim() !== '' ? rest : undefined;
}

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
