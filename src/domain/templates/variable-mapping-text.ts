import type { ContactSelectionType } from '../campaigns/campaign.ts';
import { isTidied, type SlotRule } from './slot.ts';

/** Spec 4.1.1: the contact fields a mapping may name. */
const contactFields = ['firstName', 'lastName', 'email', 'phoneNumber', 'countryCode'] as const;
export type ContactField = (typeof contactFields)[number];

/** Spec 4.1.1: the names of the CSV columns that `csv_mapping` itself names. */
const csvColumnKeys = ['name_column', 'email_column'] as const;

export type FieldSource =
  | { readonly from: 'contact'; readonly field: ContactField }
  /** A custom field of the contact. */
  | { readonly from: 'custom'; readonly fieldId: string }
  /** 0-based column of the CSV row. */
  | { readonly from: 'csv'; readonly column: number }
  /** A CSV key that `csv_mapping` leaves out: always empty. */
  | { readonly from: 'nothing' };

type NamedSources = ReadonlyMap<string, FieldSource>;

/** The names that a mapping may use, and where each takes its value from. */
export interface FieldSources {
  /** For error messages. */
  readonly names: readonly string[];
  readonly find: (name: string) => FieldSource | undefined;
}

interface SourceOptions {
  readonly selectionType: ContactSelectionType;
  /** Names a mapping may use for the columns of the CSV, with their 0-based positions. */
  readonly csvKeys: ReadonlyMap<string, number>;
}

const contactSources: NamedSources = new Map(
  contactFields.map((field) => [field, { from: 'contact', field }]),
);

/** `custom.city` is the contact's custom field `city`, as in the filter of a segment. */
const customPrefix = 'custom.';
const longestFieldId = 255;

const customField = (name: string): FieldSource | undefined => {
  const fieldId = name.startsWith(customPrefix) ? name.slice(customPrefix.length) : '';
  return fieldId === '' || fieldId.length > longestFieldId ? undefined : { from: 'custom', fieldId };
};

/** CSV keys win over contact fields of the same name. */
export const fieldSources = ({ selectionType, csvKeys }: SourceOptions): FieldSources => {
  const named = new Map(contactSources);
  if (selectionType === 'csv_contacts') {
    for (const key of csvColumnKeys) named.set(key, { from: 'nothing' });
    for (const [name, column] of csvKeys) named.set(name, { from: 'csv', column });
  }
  return {
    names: [...named.keys(), `${customPrefix}<fieldId>`],
    find: (name) => named.get(name) ?? customField(name),
  };
};

/** Sources without any field. */
export const noSources: FieldSources = { names: [], find: () => undefined };

/** Units of UTF-16 of a mapping's values, by kind: no message that the provider takes has longer ones. */
export const longestMappingText = 32_768;
export const longestMappingLink = 2_048;
export const longestMappingValue = 1_024;

export type TextPart = string | FieldSource;

const placeholder = /\{\{([^{}]+)\}\}/g;

const mergeTexts = (parts: readonly TextPart[]): readonly TextPart[] => {
  const merged: TextPart[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (typeof part === 'string' && typeof last === 'string') merged[merged.length - 1] = last + part;
    else if (part !== '') merged.push(part);
  }
  return merged;
};

/** `custom. Thanks for ordering` is text; a custom field with white space in its name is written in braces. */
const isSentence = (text: string, source: FieldSource): boolean =>
  source.from === 'custom' && /\s/.test(text.trim());

/**
 * A mapping's text: a field's name alone, or text with `{{names}}` inside. Unknown names stay as they are written. A
 * text without any known name comes back as one string.
 */
export const parseMappingText = (text: string, sources: FieldSources): readonly TextPart[] => {
  const alone = sources.find(text.trim());
  if (alone !== undefined && !isSentence(text, alone)) return [alone];
  const parts: TextPart[] = [];
  let end = 0;
  for (const match of text.matchAll(placeholder)) {
    parts.push(text.slice(end, match.index), sources.find((match[1] ?? '').trim()) ?? match[0]);
    end = match.index + match[0].length;
  }
  return mergeTexts([...parts, text.slice(end)]);
};

const bare = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');

const likeCustomField = /^custom\.\S+$/i;
/** An identifier as programs write them; a name such as `Emil` is none. */
const identifier = /^\p{Ll}[\p{L}\p{N}_.-]{3,}$/u;

/** Finds likely misspelt field names, which recipients would read as text: `{{city}}` where the field is `City`. */
export const misspelt = (text: string, sources: FieldSources): string | undefined => {
  const names = [...text.matchAll(placeholder)];
  if (names.length > 0) return names.find(([, name = '']) => sources.find(name.trim()) === undefined)?.[0];
  const alone = text.trim();
  if (alone.length > longestName || sources.find(alone) !== undefined) return undefined;
  const isLikeAField =
    bareNames(sources).has(bare(alone)) ||
    likeCustomField.test(alone) ||
    (identifier.test(alone) && nearestName(alone, sources) !== undefined);
  return isLikeAField ? alone : undefined;
};

const knownBareNames = new WeakMap<FieldSources, ReadonlyMap<string, string>>();

/** Known names by their letters and digits alone. Made once for all texts of a mapping. */
const bareNames = (sources: FieldSources): ReadonlyMap<string, string> => {
  const known = knownBareNames.get(sources);
  if (known !== undefined) return known;
  const names = [...csvColumnKeys, ...sources.names].map((name) => [bare(name), name] as const);
  const byName = new Map(names);
  knownBareNames.set(sources, byName);
  return byName;
};

const longestName = 64;
/** Names compared with a misspelt one; a CSV may have thousands of columns. */
const mostCompared = 200;

/** The known name that is closest to a misspelt one, with or without its braces; undefined if none is close. */
export const nearestName = (misspelling: string, sources: FieldSources): string | undefined => {
  const given = bare(misspelling);
  if (given === '' || given.length > longestName) return undefined;
  const names = bareNames(sources);
  const isUsable = (name: string): boolean => sources.find(name) !== undefined;
  const same = names.get(given);
  if (same !== undefined && isUsable(same)) return same;
  const farthest = given.length < 5 ? 1 : 2;
  const near = [...names]
    .slice(0, mostCompared)
    .filter(([known, name]) => isUsable(name) && Math.abs(known.length - given.length) <= farthest)
    .map(([known, name]) => ({ name, edits: editsBetween(given, known) }))
    .filter(({ edits }) => edits <= farthest)
    .toSorted((one, other) => one.edits - other.edits);
  return near[0]?.name;
};

/** Insertions, deletions, replacements and exchanges of neighbours that make one text of the other. */
const editsBetween = (one: string, other: string): number => {
  let [beforeLast, last]: readonly (readonly number[])[] = [
    [],
    Array.from({ length: other.length + 1 }, (_, at) => at),
  ];
  for (let row = 1; row <= one.length; row += 1) {
    const present = [row];
    for (let at = 1; at <= other.length; at += 1) {
      const differs = one[row - 1] === other[at - 1] ? 0 : 1;
      const exchanged = row > 1 && at > 1 && one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1];
      present[at] = Math.min(
        (last?.[at] ?? 0) + 1,
        (present[at - 1] ?? 0) + 1,
        (last?.[at - 1] ?? 0) + differs,
        exchanged ? (beforeLast?.[at - 2] ?? 0) + 1 : Infinity,
      );
    }
    [beforeLast, last] = [last, present];
  }
  return last?.[other.length] ?? 0;
};

/** The provider refuses these in a text: line breaks and other control characters, four or more spaces in a row. */
export const refusedWhitespace = /[\p{Cc}\u2028\u2029]| {4}/u;

export const tidied = (rule: SlotRule, text: string): string =>
  isTidied(rule) ? tidyText(text) : text.trim();

/** White space that the provider refuses becomes one space, so that a contact's value does not fail the message. */
const tidyText = (text: string): string => {
  const trimmed = text.trim();
  if (!refusedWhitespace.test(trimmed)) return trimmed;
  return trimmed
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replaceAll(/ {4,}/g, ' ')
    .trim();
};
