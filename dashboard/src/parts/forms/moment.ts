/** Moments of the reader's zone as the text of a `datetime-local` field. */

const two = (value: number): string => String(value).padStart(2, '0');

/** Formats a moment as the browser's `datetime-local` field writes it. */
export const fieldTime = (at: Date): string =>
  `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`;

export const latest = '9999-12-31T23:59';

/** Returns what is wrong with the text; undefined for an empty field and for a usable time. */
export function timeProblem(value: string): string | undefined {
  if (value === '') return undefined;
  const at = new Date(value);
  // The browser's field lets a user type a year of six digits.
  if (value.length > latest.length || Number.isNaN(at.getTime()))
    return 'This is not a date with a year of four digits.';
  if (at.getTime() < Date.now() - 60_000) return 'This time has passed.';
  return undefined;
}

/** Returns the moment; undefined where the field is empty or its time cannot be used. */
export const momentOf = (value: string): Date | undefined =>
  value === '' || timeProblem(value) !== undefined ? undefined : new Date(value);
