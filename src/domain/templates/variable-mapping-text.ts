import type { ContactSelectionType } from '../campaigns/campaign.ts';

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

/** Characters of a mapping's text: the provider refuses longer ones. Links may have twice as many. */
export const longestMappingText = 1_024;

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

/** Finds likely misspelt field names, which recipients would read as text: `{{city}}` where the field is `City`. */
export const misspelt = (text: string, sources: FieldSources): string | undefined => {
  const names = [...text.matchAll(placeholder)];
  if (names.length > 0) return names.find(([, name = '']) => sources.find(name.trim()) === undefined)?.[0];
  const alone = text.trim();
  const isLikeAField = bareNames(sources).has(bare(alone)) || likeCustomField.test(alone);
  return sources.find(alone) === undefined && isLikeAField ? alone : undefined;
};

const knownBareNames = new WeakMap<FieldSources, ReadonlySet<string>>();

/** Made once for all texts of a mapping. */
const bareNames = (sources: FieldSources): ReadonlySet<string> => {
  const known = knownBareNames.get(sources);
  if (known !== undefined) return known;
  const names = new Set([...sources.names, ...csvColumnKeys].map(bare));
  knownBareNames.set(sources, names);
  return names;
};

/** The provider refuses these in a text: line breaks and other control characters, four or more spaces in a row. */
export const refusedWhitespace = /[\p{Cc}\u2028\u2029]| {4}/u;

/** White space that the provider refuses becomes one space, so that a contact's value does not fail the message. */
export const tidyText = (text: string): string => {
  const trimmed = text.trim();
  if (!refusedWhitespace.test(trimmed)) return trimmed;
  return trimmed
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replaceAll(/ {4,}/g, ' ')
    .trim();
};
