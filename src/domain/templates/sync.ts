/** Compares the provider's present list with what is stored. */

import { cleanId, cleanText } from '../clean-text.ts';

/** A template as the provider lists it, in a form that Postgres can hold. */
export interface ListedTemplate {
  readonly providerTemplateId: string;
  readonly name: string;
  readonly language: string;
  /** Null when the provider does not say. */
  readonly category: string | null;
  readonly status: string;
  readonly parameterFormat: string;
  readonly components: readonly unknown[];
  readonly quality: string | null;
  readonly rejectedReason: string | null;
  /** The author; null if the provider does not say. */
  readonly source: string | null;
  /** How long the provider tries to deliver a message; null: the default of the category. */
  readonly sendTtlSeconds: number | null;
}

/** The component of a template that is too large to be stored; it cannot be sent. */
const tooLarge: readonly unknown[] = [{ type: 'TOO_LARGE' }];

const most = { componentBytes: 65_536, name: 512, word: 64, reason: 1_000 };

/**
 * The template with all that is stored of it bounded. Cut parts of one that cannot be sent without them are replaced by a
 * component that says so.
 */
export function bounded(template: ListedTemplate): ListedTemplate {
  const { name, language, category, status, quality, rejectedReason, source, components } = template;
  const fits =
    name.length <= most.name &&
    language.length <= most.word &&
    Buffer.byteLength(JSON.stringify(components)) <= most.componentBytes;
  return {
    ...template,
    providerTemplateId: cleanId(template.providerTemplateId),
    name: cleanText(name, most.name),
    language: cleanText(language, most.word),
    category: cutOrNull(category, most.word),
    status: cleanText(status, most.word),
    quality: cutOrNull(quality, most.word),
    source: cutOrNull(source, most.word),
    rejectedReason: cutOrNull(rejectedReason, most.reason),
    components: fits ? components : tooLarge,
  };
}

const cutOrNull = (text: string | null, limit: number): string | null =>
  text === null ? null : cleanText(text, limit);

export interface SyncSummary {
  /** Templates the provider has. */
  readonly synced: number;
  readonly added: number;
  /** Templates that changed, including those that the provider no longer has. */
  readonly changed: number;
}

export const emptySummary: SyncSummary = { synced: 0, added: 0, changed: 0 };

export const addSummaries = (one: SyncSummary, other: SyncSummary): SyncSummary => ({
  synced: one.synced + other.synced,
  added: one.added + other.added,
  changed: one.changed + other.changed,
});

/** The status of a template that the provider no longer lists. */
export const vanishedStatus = 'DELETED';

const storableText = (text: string): string => text.replaceAll('\u0000', '').toWellFormed();

/** JSON without what Postgres refuses in jsonb and text: NUL characters and lone surrogates. */
export const storable = <Value>(value: Value): Value => {
  const clean = (item: unknown): unknown => {
    if (typeof item === 'string') return storableText(item);
    if (Array.isArray(item)) return item.map(clean);
    if (typeof item !== 'object' || item === null) return item;
    return Object.fromEntries(Object.entries(item).map(([key, inner]) => [storableText(key), clean(inner)]));
  };
  return clean(value) as Value;
};
