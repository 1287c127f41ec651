/** Counts of messages in one part of a plot, which is a minute, an hour or a day from `at` on. */
export interface Part {
  readonly at: string;
  readonly accepted: number;
  readonly delivered: number;
  readonly read: number;
  readonly failed: number;
}

export type Step = 'minute' | 'hour' | 'day';

const stepMs: Readonly<Record<Step, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

export const series = [
  { key: 'accepted', label: 'Sent', light: '#0f766e', dark: '#2dd4bf' },
  { key: 'delivered', label: 'Delivered', light: '#1d4ed8', dark: '#93c5fd' },
  { key: 'read', label: 'Read', light: '#7e22ce', dark: '#d8b4fe' },
  { key: 'failed', label: 'Failed', light: '#b91c1c', dark: '#fca5a5' },
] as const;

/**
 * Returns the start of the minute, hour or day that contains the moment. Days are of the reader's zone. Minutes and hours are of
 * UTC, as the service counts them: in the hour that a change of the clocks repeats, local times name two moments.
 */
export function beginOf(at: Date, step: Step): Date {
  if (step !== 'day') return new Date(at.getTime() - (at.getTime() % stepMs[step]));
  const begin = new Date(at);
  begin.setHours(0, 0, 0, 0);
  return begin;
}

function next(at: Date, step: Step): Date {
  if (step !== 'day') return new Date(at.getTime() + stepMs[step]);
  // A day may have 23 or 25 hours, and may begin at 01:00.
  const later = new Date(at);
  later.setDate(at.getDate() + 1);
  return beginOf(later, step);
}

const add = (one: Part, other: Part): Part => ({
  at: one.at,
  accepted: one.accepted + other.accepted,
  delivered: one.delivered + other.delivered,
  read: one.read + other.read,
  failed: one.failed + other.failed,
});

/** Sums parts into longer ones. */
export function grouped(parts: readonly Part[], step: Step): readonly Part[] {
  const groups = new Map<string, Part>();
  for (const part of parts) {
    const at = beginOf(new Date(part.at), step).toISOString();
    const known = groups.get(at);
    groups.set(at, known === undefined ? { ...part, at } : add(known, part));
  }
  return [...groups.values()];
}

const mostParts = 10_000;

/** Parts without events become zeros: a line across a gap would invent numbers. */
export function filled(parts: readonly Part[], step: Step, from?: Date, until?: Date): readonly Part[] {
  const first = from ?? (parts[0] && new Date(parts[0].at));
  const latest = parts.at(-1);
  const last = until ?? (latest && new Date(latest.at));
  if (first === undefined || last === undefined) return [];
  const known = new Map(parts.map((part) => [Date.parse(part.at), part]));
  const all: Part[] = [];
  // An empty part at each end, so that a single one is drawn as a step.
  const margin = from === undefined ? stepMs[step] : 0;
  const end = last.getTime() + margin;
  const begin = beginOf(new Date(first.getTime() - margin), step);
  for (let at = begin; at.getTime() <= end && all.length < mostParts; at = next(at, step)) {
    all.push(
      known.get(at.getTime()) ?? { at: at.toISOString(), accepted: 0, delivered: 0, read: 0, failed: 0 },
    );
  }
  return all;
}
