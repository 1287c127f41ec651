const dateTimePattern =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(?:Z|[+-](\d{2}):?(\d{2}))$/i;

/** Start of the UTC year 1, in ms: Postgres does not read earlier times as JavaScript writes them. */
export const earliestTime = Date.parse('0001-01-01T00:00:00Z');

/**
 * An ISO 8601 date-time; undefined for a text without zone, for a day or an hour that does not exist, and outside the UTC years
 * 1 to 9999.
 */
export function parseDateTime(text: string): Date | undefined {
  const match = dateTimePattern.exec(text);
  if (match === null) return undefined;
  const parts = match.slice(1).map((part: string | undefined) => Number(part ?? 0));
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, zoneHour = 0, zoneMinute = 0] =
    parts;
  const monthLength = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
  if (month < 1 || month > 12 || day < 1 || day > monthLength) return undefined;
  if (hour > 23 || minute > 59 || second > 59 || zoneHour > 23 || zoneMinute > 59) return undefined;
  const fraction = Number(`0.${/\.(\d+)/.exec(text)?.[1] ?? '0'}`);
  const utc = new Date(0);
  utc.setUTCFullYear(year, month - 1, day);
  utc.setUTCHours(hour, minute, second, Math.floor(fraction * 1000));
  const sign = /-\d{2}:?\d{2}$/.test(text) ? -1 : 1;
  const date = new Date(utc.getTime() - sign * (zoneHour * 60 + zoneMinute) * 60_000);
  return date.getTime() < earliestTime || date.getUTCFullYear() > 9999 ? undefined : date;
}
