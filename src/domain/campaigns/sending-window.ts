/**
 * Hours in which a campaign may send. Time zones and daylight saving come from the runtime's IANA data. Imports neither io-ts
 * nor Node.
 */
import { Temporal } from 'temporal-polyfill';

export const weekDays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type WeekDay = (typeof weekDays)[number];

/** Open from `from` until just before `to` on each of `days`. If `to` is before `from`, it means the next day. */
export interface SendingWindow {
  /** IANA, such as `Europe/Berlin`. */
  readonly timezone: string;
  /** Local time, `HH:MM`. */
  readonly from: string;
  readonly to: string;
  readonly days: readonly WeekDay[];
}

/** `09:00 to 20:00, mon, tue (Europe/Berlin)`; null for no window. */
export function describeWindow(window: SendingWindow | null): string | null {
  if (window === null) return null;
  const { from, to, days, timezone } = window;
  return `${from} to ${to}, ${days.length === weekDays.length ? 'every day' : days.join(', ')} (${timezone})`;
}

/** A period in which sending is allowed. It never closes if `closesAt` is null. */
export interface OpenTime {
  readonly opensAt: Date;
  readonly closesAt: Date | null;
}

/** 15 days: windows repeat each week, so windows without a common opening in two weeks have none at all. */
const horizonMs = 15 * 86_400_000;
const mostOpenings = 1_000;

/**
 * Uses JavaScript's `Temporal`, which also computes the windows. `Intl` is not strict enough: it accepts ambiguous
 * abbreviations such as `IST`, which `Temporal` refuses.
 */
export function isTimeZone(text: string): boolean {
  // Offsets such as +01:00 are refused, because they ignore daylight saving time.
  if (!/^[a-z]/i.test(text)) return false;
  try {
    return new Temporal.ZonedDateTime(0n, text).timeZoneId !== '';
  } catch {
    return false;
  }
}

/** `HH:MM`, such as `09:00`. */
export const timeOfDay = /^([01]\d|2[0-3]):[0-5]\d$/;

/**
 * Returns the first period at or after `at` in which all `windows` are open; `opensAt` is `at` if they are open then.
 * Undefined if they are never open together.
 */
export function nextOpenTime(windows: readonly SendingWindow[], at: Date): OpenTime | undefined {
  let time = at.getTime();
  while (time - at.getTime() < horizonMs) {
    const spans = windows.map((window) => nextSpan(window, time));
    const opensAt = Math.max(time, ...spans.map((span) => span.opensAt));
    if (opensAt === time) {
      const closesAt = Math.min(...spans.map((span) => span.closesAt));
      return { opensAt: new Date(time), closesAt: spans.length === 0 ? null : new Date(closesAt) };
    }
    time = opensAt;
  }
  return undefined;
}

/**
 * Returns when `seconds` of open time will have passed since `at`; null if that is too far away or the windows are never open
 * together.
 */
export function afterOpenTime(windows: readonly SendingWindow[], at: Date, seconds: number): Date | null {
  let leftMs = seconds * 1_000;
  let time = at;
  for (let count = 0; count < mostOpenings; count += 1) {
    const open = nextOpenTime(windows, time);
    if (open === undefined) return null;
    const lengthMs = open.closesAt === null ? Infinity : open.closesAt.getTime() - open.opensAt.getTime();
    if (leftMs <= lengthMs) return new Date(open.opensAt.getTime() + leftMs);
    leftMs -= lengthMs;
    time = open.closesAt ?? time;
  }
  return null;
}

/** Returns when a campaign that has not begun may first send; null if its windows never overlap. */
export function beginsAt(
  windows: readonly SendingWindow[],
  { scheduledAt, createdAt }: { readonly scheduledAt: Date | null; readonly createdAt: Date },
): Date | null {
  return nextOpenTime(windows, scheduledAt ?? createdAt)?.opensAt ?? null;
}

interface Span {
  readonly opensAt: number;
  readonly closesAt: number;
}

/** Returns the first span of the window that has not closed by `time`. */
function nextSpan({ timezone, from, to, days }: SendingWindow, time: number): Span {
  const today = Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(timezone).toPlainDate();
  // A span that crosses midnight may have begun yesterday.
  for (let day = -1; day <= 8; day += 1) {
    const date = today.add({ days: day });
    const name = weekDays[date.dayOfWeek - 1];
    if (name === undefined || !days.includes(name)) continue;
    const opensAt = instantOf(date, from, timezone);
    const closesAt = instantOf(to < from ? date.add({ days: 1 }) : date, to, timezone);
    // When clocks go forward, a short window may be skipped entirely.
    if (closesAt > time && closesAt > opensAt) return { opensAt, closesAt };
  }
  return { opensAt: Infinity, closesAt: Infinity };
}

/**
 * Converts local time to an instant. A time that is skipped when clocks change becomes the moment of the change; for a
 * repeated time, the first one counts.
 */
function instantOf(date: Temporal.PlainDate, time: string, timezone: string): number {
  const local = date.toPlainDateTime(Temporal.PlainTime.from(time));
  const found = local.toZonedDateTime(timezone, { disambiguation: 'compatible' });
  if (found.toPlainDateTime().equals(local)) return found.epochMilliseconds;
  const before = local.toZonedDateTime(timezone, { disambiguation: 'earlier' });
  return (before.getTimeZoneTransition('next') ?? found).epochMilliseconds;
}
