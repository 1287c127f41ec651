import type { ParameterFormat } from './definition.ts';

const placeholder = /\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g;
const position = /^\d+$/;

export const isPosition = (name: string): boolean => position.test(name);

/** The variables of a template text, each once: positions by number, names in order of appearance. */
export const placeholderNames = (text: string, format: ParameterFormat): readonly string[] => {
  const names = [...new Set(Array.from(text.matchAll(placeholder), (match) => match[1] ?? ''))];
  if (format === 'NAMED') return names;
  return names.filter(isPosition).toSorted((one, other) => Number(one) - Number(other));
};

/** The template text with its variables filled in; a placeholder inside a value is not filled. */
export const fillPlaceholders = (text: string, values: ReadonlyMap<string, string>): string =>
  text.replaceAll(placeholder, (whole, name: string) => values.get(name) ?? whole);

/** A template text in pieces: literal text, and the variables as they are written. */
export const textTemplateParts = (
  text: string,
): readonly (string | { readonly name: string; readonly written: string })[] => {
  const parts: (string | { readonly name: string; readonly written: string })[] = [];
  let end = 0;
  for (const match of text.matchAll(placeholder)) {
    parts.push(text.slice(end, match.index), { name: match[1] ?? '', written: match[0] });
    end = match.index + match[0].length;
  }
  return [...parts, text.slice(end)];
};

/** A button's URL around its one variable; undefined when the URL is static. */
export const splitUrl = (url: string): { readonly prefix: string; readonly suffix: string } | undefined => {
  const match = url.matchAll(placeholder).next().value;
  if (match === undefined) return undefined;
  return { prefix: url.slice(0, match.index), suffix: url.slice(match.index + match[0].length) };
};
