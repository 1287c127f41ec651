/** The days of a filter, as they stand in the address. */
import type { Strings } from './search-params.ts';

const dayForm = /^\d{4}-\d{2}-\d{2}$/;

/** Converts whole days of the reader's zone to instants; `to` is included, and text that is no day is ignored. */
export function instantsOf({ from, to }: Strings<'from' | 'to'>): { from?: string; to?: string } {
  const startOf = (day: string | undefined, daysLater: number) => {
    const at = dayForm.test(day ?? '') ? new Date(`${day}T00:00`) : undefined;
    if (at === undefined || Number.isNaN(at.getTime())) return undefined;
    at.setDate(at.getDate() + daysLater);
    return at.toISOString();
  };
  const [begin, end] = [startOf(from, 0), startOf(to, 1)];
  return { ...(begin && { from: begin }), ...(end && { to: end }) };
}
