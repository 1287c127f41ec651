/** Reads the delimiter from the beginning of a CSV, or from Excel's line that names it. */

export const csvDelimiters = [',', ';', '\t', '|'] as const;
export type CsvDelimiter = (typeof csvDelimiters)[number];

export interface CsvDialect {
  readonly delimiter: CsvDelimiter;
  /** The first line only names the delimiter (`sep=;`); the header is the second. */
  readonly hasSeparatorLine: boolean;
}

const separatorLine = /^"?sep=([,;\t|])"?\r?$/i;

/** The delimiter that stands most often in the header line, outside quotes; the comma when none does. */
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

/** The physical line that the header begins on: the first that is not blank. Undefined while it is not complete. */
export function findHeaderLine(text: string, isWhole: boolean): string | undefined {
  const match = /^(?:[ \t]*(?:\r\n|\r|\n))*/.exec(text);
  const rest = text.slice(match?.[0].length ?? 0);
  const end = rest.search(/[\r\n]/);
  if (end !== -1) return rest.slice(0, end);
  return isWhole && rest.trim() !== '' ? rest : undefined;
}
