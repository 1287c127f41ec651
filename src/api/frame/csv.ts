/** Lists that are answered as a CSV file. */
import { Readable } from 'node:stream';
import type { ContentAnswer, EndpointRequest } from './endpoint.ts';

/** Generated clients accept every media type of the document, but read JSON only. */
export function wantsCsv({ header }: Pick<EndpointRequest, 'header'>): boolean {
  const accept = header('accept') ?? '';
  return accept.includes('text/csv') && !accept.includes('application/json');
}

type CsvValue = string | number | boolean | Date | null;

/** Puts an apostrophe in front of text that a spreadsheet would run as a formula. */
function csvCell(value: CsvValue): string {
  const text = value instanceof Date ? value.toISOString() : String(value ?? '');
  const safe = /^[=+@\t\n\r＝＋－＠-]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const rowsAtATime = 500;

interface CsvSource<R> {
  /** The rows after `after`; one more than `limit`, if there are as many. */
  readonly list: (after: R | undefined, limit: number) => Promise<readonly R[]>;
  readonly isStillAllowed: EndpointRequest['isStillAllowed'];
}

async function* writeCsv<R>(
  columns: readonly (keyof R & string)[],
  { list, isStillAllowed }: CsvSource<R>,
): AsyncGenerator<string> {
  yield `${columns.join(',')}\n`;
  let after: R | undefined;
  for (;;) {
    const found = await list(after, rowsAtATime);
    const rows = found.slice(0, rowsAtATime);
    if (rows.length > 0)
      yield rows
        .map((one) => `${columns.map((column) => csvCell(one[column] as CsvValue)).join(',')}\n`)
        .join('');
    if (found.length <= rowsAtATime) return;
    after = rows.at(-1);
    // A broken connection, since a file that merely ends looks whole.
    if (!(await isStillAllowed())) throw new Error('The key of this export is not valid any more');
  }
}

/** All rows of a list as a file. */
export const csvAnswer = <R>(
  name: string,
  columns: readonly (keyof R & string)[],
  source: CsvSource<R>,
): Omit<ContentAnswer, 'status'> => ({
  content: Readable.from(writeCsv(columns, source), { highWaterMark: 1 }),
  contentType: 'text/csv; charset=utf-8',
  headers: { 'content-disposition': `attachment; filename="${name}"` },
});
