/** Sending windows as text, and the workspace's own window. */
import { useQuery } from '@tanstack/react-query';
import { weekDays, type SendingWindow, type WeekDay } from '../../src/domain/campaigns/sending-window.ts';
import { api, client } from './client.ts';
import { ownZone } from './format.ts';

export { weekDays, type SendingWindow, type WeekDay };

/** The window offered first: office hours in the reader's time zone. */
export const usualWindow: SendingWindow = { timezone: ownZone, from: '09:00', to: '20:00', days: weekDays };

const monday = Date.UTC(2024, 0, 1);
const dayForm = new Intl.DateTimeFormat(undefined, { weekday: 'short', timeZone: 'UTC' });
export const dayName = (day: WeekDay): string =>
  dayForm.format(new Date(monday + weekDays.indexOf(day) * 86_400_000));

function daysText(days: readonly WeekDay[]): string {
  if (days.length === weekDays.length) return 'every day';
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return 'on no day';
  const isRange = weekDays.indexOf(last) - weekDays.indexOf(first) === days.length - 1;
  return isRange && days.length > 2 ? `${dayName(first)}–${dayName(last)}` : days.map(dayName).join(', ');
}

/** `09:00 to 20:00, Mon–Fri (Europe/Berlin)` */
export const windowText = ({ from, to, days = weekDays, timezone }: api.SendingWindow): string =>
  `${from} to ${to}, ${daysText(days)} (${timezone})`;

/** A recorded window as the form edits it. */
export const windowOf = (recorded: api.SendingWindow | null): SendingWindow | null =>
  recorded === null ? null : { ...recorded, days: recorded.days ?? weekDays };

/** Returns what is wrong with a window being edited; undefined for a usable one. */
export function windowProblem({ from, to, days }: SendingWindow): string | undefined {
  if (from === '' || to === '') return 'Enter both times.';
  if (from === to) return 'The two times must differ.';
  return days.length === 0 ? 'Choose at least one day.' : undefined;
}

/** The hours in which the workspace's MARKETING templates may be sent; null if they may be sent at any hour. */
export const useWorkspaceWindow = () =>
  useQuery({
    queryKey: ['sending-window'],
    queryFn: async () => (await api.getSendingWindow(client)).data,
    staleTime: 60_000,
  });
