/** The diagnosis' entry about the sending window. Imports neither io-ts nor Node. */
import { isFinished } from './campaign.ts';
import { fine, goesOnByItself, wrong, type CampaignFacts, type DiagnosisEntry } from './diagnosis-facts.ts';
import { nextOpenTime } from './sending-window.ts';

/** Returns undefined for a campaign without a sending window. */
export function sendingHours({ status: present, windows, now }: CampaignFacts): DiagnosisEntry | undefined {
  const [window] = windows;
  if (window === undefined || isFinished(present)) return undefined;
  const open = nextOpenTime(windows, now);
  if (open === undefined)
    return wrong(
      'SENDING_WINDOW',
      'Its sending window has no time in common with that of the workspace.',
      'Change one of the two windows.',
    );
  const { timezone } = window;
  if (open.opensAt <= now)
    return fine(
      'SENDING_WINDOW',
      `Its sending window is open${open.closesAt === null ? '' : ` until ${wallTime(open.closesAt, now, timezone)}`}.`,
    );
  const opening = `${wallTime(open.opensAt, now, timezone)}, in ${spanText(open.opensAt, now)}`;
  return present === 'RUNNING'
    ? wrong('SENDING_WINDOW', `Waits for ${opening}: its sending window is closed.`, goesOnByItself)
    : fine('SENDING_WINDOW', `Its sending window is closed until ${opening}.`);
}

/** `09:00, Europe/Berlin`; `09:00 on Thursday 26 November, Europe/Berlin` where that is not today. */
function wallTime(at: Date, now: Date, timeZone: string): string {
  const day = new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'long', day: 'numeric', month: 'long' });
  const time = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' });
  const date = day.format(at) === day.format(now) ? '' : ` on ${day.format(at)}`;
  return `${time.format(at)}${date}, ${timeZone}`;
}

function spanText(until: Date, now: Date): string {
  const minutes = Math.ceil((until.getTime() - now.getTime()) / 60_000);
  if (minutes < 120) return minutes === 1 ? '1 minute' : `${minutes} minutes`;
  return `${Math.round(minutes / 60)} hours`;
}
