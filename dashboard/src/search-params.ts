/** Reads the search parameters of an address; what is not understood is left out. */
const text = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;

const texts = (value: unknown): string[] | undefined => {
  const list = [value].flat().flatMap((one) => text(one) ?? []);
  return list.length === 0 ? undefined : list;
};

export type Strings<K extends string> = { readonly [key in K]?: string };

/** A reader of parameters that are plain text. */
export const strings =
  <K extends string>(...names: readonly K[]) =>
  (search: Record<string, unknown>): Strings<K> =>
    Object.fromEntries(names.map((name) => [name, text(search[name])])) as Strings<K>;

/** A reader of parameters that may be given more than once. */
export const lists =
  <K extends string>(...names: readonly K[]) =>
  (search: Record<string, unknown>): { readonly [key in K]?: string[] } =>
    Object.fromEntries(names.map((name) => [name, texts(search[name])])) as {
      readonly [key in K]?: string[];
    };

/** The number of a page; undefined for the first. */
export const page = ({ page: value }: Record<string, unknown>): { readonly page?: number } =>
  Number(value) > 1 ? { page: Number(value) } : {};
