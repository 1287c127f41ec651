/** Detects the delimiter from the beginning of a CSV, or from the line in which Excel names it. */

const csvDelimiters = [',', ';', '\t', '|'] as const;
export type CsvDelimiter = (typeof csvDelimiters)[number];

export interface CsvDialect {
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
