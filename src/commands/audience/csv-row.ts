/** A row of a CSV, and the errors that make a file unreadable from a row on. */
import { PreparationFailure } from '../../domain/audience/preparation-failure.ts';

export type CsvRow =
  | { readonly line: number; readonly cells: readonly string[] }
  | { readonly line: number; readonly problem: string };

export const maxRecordBytes = 1024 * 1024;

export const isBlankRow = (cells: readonly string[]): boolean => cells.every((cell) => cell.trim() === '');

export const recordTooLong = (line: number): PreparationFailure =>
  unreadableLine(line, `the record is longer than ${maxRecordBytes} characters; a quote may be left open`);

export function unreadableLine(line: number, problem: string): PreparationFailure {
  return new PreparationFailure('CSV_UNREADABLE', `Line ${line}: ${problem}`);
}
