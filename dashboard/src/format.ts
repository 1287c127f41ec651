/** Numbers, money and spans of time as people read them. */

const whole = new Intl.NumberFormat();
export const number = (value: number): string => whole.format(value);

/** `1 message`, `2,000 messages` */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${number(count)} ${count === 1 ? one : many}`;

/** `1,012.50 USD`: two places, and up to six where the amount has them. */
export function money(amount: string, currency = ''): string {
  const value = Number(amount);
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 6 };
  return `${new Intl.NumberFormat(undefined, digits).format(value)} ${currency}`.trim();
}

/** A sum of money with two places, such as `1,012.50 USD`; a smaller one than a cent keeps its first digits. */
export function moneyTotal(amount: string, currency = ''): string {
  const value = Number(amount);
  const isTiny = value !== 0 && Math.abs(value) < 0.01;
  const digits = isTiny
    ? { maximumSignificantDigits: 2 }
    : { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  return `${new Intl.NumberFormat(undefined, digits).format(value)} ${currency}`.trim();
}

export function percent(part: number, total: number): string {
  if (total === 0) return '0 %';
  const share = (part / total) * 100;
  return `${share > 0 && share < 1 ? '< 1' : Math.floor(share)} %`;
}

/** A share between 0 and 1 as a whole percentage; a dash where there is none. */
export const share = (value: number | undefined): string => (value === undefined ? '—' : percent(value, 1));

/** `45 seconds`, `3 min`, `2 h 5 min`, `3 days`; a dash where the time is unknown. */
export function span(seconds: number | null): string {
  if (seconds === null) return '—';
  if (seconds < 60) return counted(Math.max(1, Math.round(seconds)), 'second');
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return `${Math.round(hours / 24)} days`;
}

const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
export const exactTime = (at: Date): string => full.format(at);

const short = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
export const minuteTime = (at: Date): string => short.format(at);

const dayAndMinute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
export const dayAndMinuteTime = (at: Date): string => dayAndMinute.format(at);

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
export const dayOf = (at: Date): string => day.format(at);

const shortDayForm = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short' });
/** `Wed 25 Nov` */
export const shortDay = (at: Date): string => shortDayForm.format(at);

/** The reader's own time zone, such as `Europe/Berlin`. */
export const ownZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

const planned = new Intl.DateTimeFormat(undefined, {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});
/** `Wed 25 Nov, 03:41 (Europe/Berlin), in 23 h` */
export const plannedTime = (at: Date): string => `${planned.format(at)} (${ownZone}), ${relativeTime(at)}`;

/** True for a time more than a minute from now. */
export const isLater = (at: string): boolean => Date.parse(at) > Date.now() + 60_000;

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });
export function relativeTime(at: Date, now = Date.now()): string {
  const seconds = (at.getTime() - now) / 1000;
  const size = Math.abs(seconds);
  if (size < 45) return seconds > 5 ? 'in under a minute' : 'just now';
  if (size < 3_600) return relative.format(Math.round(seconds / 60), 'minute');
  // English shortens hours to `hr.`.
  if (size < 86_400) return relative.format(Math.round(seconds / 3_600), 'hour').replace(/ hr\.?/, ' h');
  return relative.format(Math.round(seconds / 86_400), 'day');
}

export const phone = (digits: string | null | undefined): string => (digits ? `+${digits}` : '—');

/** `INSUFFICIENT_BALANCE` → `Insufficient balance`, `csv_import` → `CSV import` */
export function words(code: string): string {
  const text = code
    .replaceAll('_', ' ')
    .toLowerCase()
    .replace(/\b(?:api|csv|dns|tls)\b/g, (name) => name.toUpperCase());
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
