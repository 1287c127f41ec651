/** Saves the skipped rows of a CSV as a file, each with its line, so that they can be corrected in the original. */
import type { api } from '../../client.ts';
import { phone } from '../../format.ts';
import { explain } from '../../reasons.ts';

/** Quotes a cell. One that a spreadsheet would run as a formula gets an apostrophe in front. */
const cell = (text: string): string => `"${text.replace(/^(?=[=@\t\r-])/, "'").replaceAll('"', '""')}"`;

export function saveSkippedRows(rows: readonly api.CsvSkippedRow[]): void {
  const lines = rows.map(({ line, phone_number: number, reason, reason_detail: detail }) =>
    [
      String(line ?? ''),
      number ? phone(number) : (detail ?? ''),
      explain(reason).title,
      explain(reason).advice,
    ]
      .map(cell)
      .join(','),
  );
  const text = ['line,number,reason,advice', ...lines].join('\r\n');
  const link = document.createElement('a');
  // The mark at the beginning makes spreadsheets read UTF-8.
  link.href = URL.createObjectURL(new Blob(['\uFEFF', text], { type: 'text/csv' }));
  link.download = 'skipped-rows.csv';
  link.click();
  URL.revokeObjectURL(link.href);
}
