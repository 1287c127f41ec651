/** Imports of contacts: their states, and what the mapping says about a row. */
import type { Candidate } from '../audience/candidate.ts';
import type { RowConsent } from '../audience/consent-column.ts';
import { type CsvMapping, columnProblems, outOfRange } from '../audience/csv.ts';
import type { FieldProblem } from '../error.ts';

export const importStates = ['PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED'] as const;
export type ImportState = (typeof importStates)[number];

/** Whether people without a contact get one, and contacts are changed. */
export const importModes = ['create', 'update', 'both'] as const;
export type ImportMode = (typeof importModes)[number];

export const importResults = ['created', 'updated', 'skipped'] as const;
export type ImportResult = (typeof importResults)[number];

export const importReasons = [
  'INVALID_PHONE',
  'MALFORMED_ROW',
  'DUPLICATE',
  'EXISTS',
  'NOT_FOUND',
  'CONSENT_UNCLEAR',
  'FIELDS_TOO_LARGE',
] as const;
export type ImportReason = (typeof importReasons)[number];

/** A column by its number, or a tag by its name or id. */
type TagSource = number | string;

export interface ImportMapping extends Omit<CsvMapping, 'country_code_column'> {
  /** Numbers that name their country need none. */
  readonly country_code_column?: number | null | undefined;
  readonly last_name_column?: number | null | undefined;
  /** A number is a column of names of tags; a text is a tag for every row. */
  readonly tags?: TagSource | readonly TagSource[] | null | undefined;
}

/** The mapping as a campaign has it. */
export const csvMappingOf = (mapping: ImportMapping, defaultCountry: string | null): CsvMapping => ({
  ...mapping,
  country_code_column: mapping.country_code_column ?? mapping.phone_column,
  default_country: mapping.default_country ?? defaultCountry,
});

function tagSources({ tags }: ImportMapping): readonly TagSource[] {
  if (tags == null) return [];
  return typeof tags === 'object' ? tags : [tags];
}

/** Returns a problem for every column that the header lacks. */
export function importColumnProblems(mapping: ImportMapping, columnCount: number): readonly FieldProblem[] {
  const { last_name_column } = mapping;
  const tags = tagSources(mapping).flatMap((source, at) =>
    typeof source === 'number' ? [[`tags.${at}`, source] as const] : [],
  );
  return [
    ...columnProblems(csvMappingOf(mapping, null), columnCount, 'mapping'),
    ...outOfRange('mapping', [['last_name_column', last_name_column], ...tags], columnCount),
  ];
}

/** Several tags in one cell. */
const betweenTags = /[,;|\n]/;
export const maxTagName = 255;

/** The names of the tags that a row gets; ids are returned as they are. */
export function tagReader(mapping: ImportMapping): (cells: readonly string[]) => readonly string[] {
  const sources = tagSources(mapping);
  const columns = sources.filter((source) => typeof source === 'number');
  const ofAll = sources.filter((source) => typeof source === 'string');
  if (columns.length === 0) return () => ofAll;
  return (cells) => {
    const names = new Set(ofAll);
    for (const column of columns)
      for (const part of (cells[column] ?? '').split(betweenTags)) {
        const name = part.trim().slice(0, maxTagName).toWellFormed();
        if (name !== '') names.add(name);
      }
    return [...names];
  };
}

/** The candidate with the last name of its own column: the cell of `name_column` is then the first name as it is. */
export function nameReader({
  name_column: nameColumn,
  last_name_column: lastColumn,
}: ImportMapping): (candidate: Candidate) => Candidate {
  if (lastColumn == null) return (candidate) => candidate;
  const cellOf = (row: readonly string[] | undefined, column: number | null | undefined): string =>
    column == null ? '' : (row?.[column] ?? '').trim().slice(0, maxName).toWellFormed();
  return (candidate) => ({
    ...candidate,
    person: {
      email: '',
      customFields: undefined,
      ...candidate.person,
      firstName: cellOf(candidate.row, nameColumn),
      lastName: cellOf(candidate.row, lastColumn),
    },
  });
}

const maxName = 255;

/** The consent of a row, if it can be read. */
export type RowDecision = Extract<RowConsent, { readonly kind: 'decision' }>;
