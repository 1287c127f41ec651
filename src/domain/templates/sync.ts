/** Compares the provider's present list with what is stored. */

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
}

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
