/** Reading JSON that others wrote: no prototype keys, no assumptions. */

export type JsonRecord = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value's own property; undefined when it is absent, null, or `value` is no object. */
export const own = (value: unknown, key: string): unknown => {
  if (!isRecord(value) || !Object.hasOwn(value, key)) return undefined;
  return value[key] ?? undefined;
};

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
