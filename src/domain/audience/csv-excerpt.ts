/** Limits the excerpt of a CSV in a response: a hostile file may have half a million columns, or cells of a megabyte. */

export const mostShownColumns = 500;

const longestCell = 255;
/** Maximum length of all column names together, in characters. */
const mostOfHeaders = 8_192;
/** Maximum size of a response with its rows, in bytes of JSON. */
const mostBytes = 60 * 1024;

/** Removes control characters: each takes six bytes in JSON and is invisible. */
const cut = (text: string, most: number): string =>
  text
    .slice(0, most)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, ' ');

/** Returns the names of the first columns, shortened if they are long. */
export function excerptHeaders(headers: readonly string[]): readonly string[] {
  const shown = headers.slice(0, mostShownColumns);
  const all = shown.reduce((sum, { length }) => sum + length, 0);
  const most = all > mostOfHeaders ? Math.floor(mostOfHeaders / shown.length) : longestCell;
  return shown.map((header) => cut(header, most));
}

/** Returns the first columns of a row. */
export function excerptCells(cells: readonly string[]): readonly string[] {
  return cells.slice(0, mostShownColumns).map((cell) => cut(cell, longestCell));
}

/** Returns as many of the first rows as fit into a response that also contains `rest`. */
export function excerptRows<R>(rows: readonly R[], rest: object): readonly R[] {
  const encoder = new TextEncoder();
  const bytesOf = (value: unknown) => encoder.encode(JSON.stringify(value)).length;
  const shown: R[] = [];
  let bytes = bytesOf(rest);
  for (const row of rows) {
    bytes += bytesOf(row);
    if (bytes > mostBytes) break;
    shown.push(row);
  }
  return shown;
}
