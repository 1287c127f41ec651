/** A sending window on the wire. Its rules are `domain/campaigns/sending-window.ts`. */
import { isRight } from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import {
  isTimeZone,
  timeOfDay,
  weekDays,
  type SendingWindow as Window,
} from '../domain/campaigns/sending-window.ts';
import { shortListOf } from './collections.ts';
import { fieldName } from './field-name.ts';
import { describe, named } from './json-schema.ts';
import { textMatching } from './scalars.ts';
import { needed, oneOf, refined, struct } from './struct.ts';

const zoneHint = 'an IANA time zone such as "Europe/Berlin"';
const TimeZone = refined(t.string, isTimeZone, (field) => `${field} must be ${zoneHint}`, {
  description: 'IANA time zone, such as `Europe/Berlin`; follows daylight saving time.',
});

const timeHint = 'a time such as "09:00"';
const timeCodec = (description: string) =>
  textMatching('TimeOfDay', timeOfDay, `must be ${timeHint}`, { pattern: timeOfDay.source, description });
const From = timeCodec('Local time at which sending may begin, `HH:MM`.');
const To = timeCodec(
  'Local time at which sending stops, `HH:MM`; earlier than `from` means on the next day.',
);

const Days = refined(
  shortListOf(oneOf(weekDays, 'WeekDay'), weekDays.length),
  ({ length }) => length > 0,
  (field) => `${field} must name at least one day, such as "mon"`,
  { minItems: 1 },
);

const Fields = struct(
  {
    timezone: needed(TimeZone, zoneHint),
    from: needed(From, timeHint),
    to: needed(To, timeHint),
  },
  { days: Days },
);

/** Days default to all, and are encoded in the order of the week. */
export const SendingWindow: t.Type<Window, Window> = named(
  'SendingWindow',
  describe(
    new t.Type<Window, Window>(
      Fields.name,
      (value): value is Window => Fields.is(value),
      (input, context) => {
        const decoded = Fields.validate(input, context);
        if (!isRight(decoded)) return decoded;
        const { days = weekDays, ...window } = decoded.right;
        if (window.from === window.to) {
          const at = t.appendContext(context, 'to', To, window.to);
          return t.failure(
            window.to,
            at,
            `${fieldName(at)} must differ from the time in from, such as "20:00"`,
          );
        }
        return t.success({ ...window, days: weekDays.filter((day) => days.includes(day)) });
      },
      t.identity,
    ),
    {
      description:
        'Messages leave from `from` until before `to` by the wall clock of `timezone`, on each of `days` (default: all). A `to` before `from` is on the next day.',
    },
    Fields,
  ),
);

export type SendingWindow = Window;

export const sendingWindowExample = {
  timezone: 'Europe/Berlin',
  from: '09:00',
  to: '20:00',
  days: ['mon', 'tue', 'wed', 'thu', 'fri'],
} as const;
