import { describe, expect, it } from 'vitest';
import {
  afterOpenTime,
  isTimeZone,
  nextOpenTime,
  weekDays,
  type SendingWindow,
} from '../../../src/domain/campaigns/sending-window.ts';

const berlin = (from: string, to: string, days: SendingWindow['days'] = weekDays): SendingWindow => ({
  timezone: 'Europe/Berlin',
  from,
  to,
  days,
});
const open = (windows: readonly SendingWindow[], at: string) => {
  const found = nextOpenTime(windows, new Date(at));
  return found && [found.opensAt.toISOString(), found.closesAt?.toISOString() ?? null];
};

describe('the time in which a campaign may send', () => {
  it('is always where there is no window', () => {
    expect(open([], '2026-06-01T00:00:00Z')).toEqual(['2026-06-01T00:00:00.000Z', null]);
  });

  it.each([
    ['before the opening', '2026-06-01T05:00:00Z', '2026-06-01T07:00:00.000Z', '2026-06-01T18:00:00.000Z'],
    ['at the opening', '2026-06-01T07:00:00Z', '2026-06-01T07:00:00.000Z', '2026-06-01T18:00:00.000Z'],
    ['in the window', '2026-06-01T12:00:00Z', '2026-06-01T12:00:00.000Z', '2026-06-01T18:00:00.000Z'],
    [
      'a ms before the end',
      '2026-06-01T17:59:59.999Z',
      '2026-06-01T17:59:59.999Z',
      '2026-06-01T18:00:00.000Z',
    ],
    ['at the closing', '2026-06-01T18:00:00Z', '2026-06-02T07:00:00.000Z', '2026-06-02T18:00:00.000Z'],
  ])('is found %s', (_, at, opensAt, closesAt) => {
    expect(open([berlin('09:00', '20:00')], at)).toEqual([opensAt, closesAt]);
  });

  it('crosses midnight, and belongs to the day of its opening', () => {
    const nights = [berlin('22:00', '06:00', ['fri'])];
    // 2026-06-05 is a Friday.
    expect(open(nights, '2026-06-05T12:00:00Z')).toEqual([
      '2026-06-05T20:00:00.000Z',
      '2026-06-06T04:00:00.000Z',
    ]);
    expect(open(nights, '2026-06-06T02:00:00Z')).toEqual([
      '2026-06-06T02:00:00.000Z',
      '2026-06-06T04:00:00.000Z',
    ]);
    expect(open(nights, '2026-06-06T04:00:00Z')).toEqual([
      '2026-06-12T20:00:00.000Z',
      '2026-06-13T04:00:00.000Z',
    ]);
  });

  it('leaves out the days that are not named', () => {
    const workDays = [berlin('09:00', '17:00', ['mon', 'tue', 'wed', 'thu', 'fri'])];
    expect(open(workDays, '2026-06-05T16:00:00Z')?.[0]).toBe('2026-06-08T07:00:00.000Z');
  });

  it('keeps to the wall clock on the day that loses an hour', () => {
    // In Berlin 02:00 becomes 03:00 on 2026-03-29.
    expect(open([berlin('09:00', '20:00')], '2026-03-28T20:00:00Z')).toEqual([
      '2026-03-29T07:00:00.000Z',
      '2026-03-29T18:00:00.000Z',
    ]);
    // 02:30 does not exist: the window opens, and closes, with the change.
    expect(open([berlin('02:30', '04:00')], '2026-03-29T00:00:00Z')).toEqual([
      '2026-03-29T01:00:00.000Z',
      '2026-03-29T02:00:00.000Z',
    ]);
    expect(open([berlin('01:00', '02:30')], '2026-03-29T00:30:00Z')).toEqual([
      '2026-03-29T00:30:00.000Z',
      '2026-03-29T01:00:00.000Z',
    ]);
    // The clock skips all of 02:15 to 02:45, so the window opens on the next day.
    expect(open([berlin('02:15', '02:45')], '2026-03-29T00:30:00Z')?.[0]).toBe('2026-03-30T00:15:00.000Z');
  });

  it('keeps to the wall clock on the day that gains an hour', () => {
    // In Berlin 03:00 becomes 02:00 on 2026-10-25.
    expect(open([berlin('09:00', '20:00')], '2026-10-24T20:00:00Z')).toEqual([
      '2026-10-25T08:00:00.000Z',
      '2026-10-25T19:00:00.000Z',
    ]);
    expect(open([berlin('22:00', '06:00')], '2026-10-24T21:00:00Z')?.[1]).toBe('2026-10-25T05:00:00.000Z');
    // 02:30 comes twice: the window closes at the first.
    expect(open([berlin('01:00', '02:30')], '2026-10-24T23:30:00Z')?.[1]).toBe('2026-10-25T00:30:00.000Z');
  });

  it('is what several windows have in common, in different zones', () => {
    const newYork: SendingWindow = {
      timezone: 'America/New_York',
      from: '09:00',
      to: '20:00',
      days: weekDays,
    };
    expect(open([berlin('09:00', '20:00'), newYork], '2026-06-01T05:00:00Z')).toEqual([
      '2026-06-01T13:00:00.000Z',
      '2026-06-01T18:00:00.000Z',
    ]);
  });

  it('does not exist where windows have no common opening', () => {
    expect(
      open([berlin('09:00', '12:00'), berlin('12:00', '18:00')], '2026-06-01T05:00:00Z'),
    ).toBeUndefined();
    const [monday, sunday] = [berlin('09:00', '12:00', ['mon']), berlin('09:00', '12:00', ['sun'])];
    expect(open([monday, sunday], '2026-06-01T05:00:00Z')).toBeUndefined();
  });
});

describe('the time by which the windows have been open for a given duration', () => {
  const hours = (windows: readonly SendingWindow[], at: string, count: number) =>
    afterOpenTime(windows, new Date(at), count * 3_600)?.toISOString();

  it('counts open hours alone', () => {
    const day = [berlin('09:00', '20:00')];
    expect(hours(day, '2026-06-01T12:00:00Z', 2)).toBe('2026-06-01T14:00:00.000Z');
    expect(hours(day, '2026-06-01T12:00:00Z', 7)).toBe('2026-06-02T08:00:00.000Z');
    expect(hours(day, '2026-06-01T20:00:00Z', 25)).toBe('2026-06-04T10:00:00.000Z');
    expect(hours([], '2026-06-01T12:00:00Z', 30)).toBe('2026-06-02T18:00:00.000Z');
  });

  it('counts the hours that pass, one less or one more than the clock shows, on a day of a clock change', () => {
    const night = [berlin('00:00', '06:00')];
    // Five hours on the day of spring, seven on that of autumn.
    expect(hours(night, '2026-03-28T22:59:00Z', 5)).toBe('2026-03-29T04:00:00.000Z');
    expect(hours(night, '2026-10-24T21:59:00Z', 7)).toBe('2026-10-25T05:00:00.000Z');
  });

  it('is unknown where the windows never open', () => {
    expect(afterOpenTime([berlin('09:00', '12:00'), berlin('12:00', '18:00')], new Date(), 60)).toBeNull();
  });
});

it.each([
  ['Europe/Berlin', true],
  ['UTC', true],
  ['America/Argentina/Buenos_Aires', true],
  ['europe/berlin', true],
  ['Asia/Calcutta', true],
  ['+01:00', false],
  // The abbreviation of India, Israel or Ireland.
  ['IST', false],
  ['PST', false],
  ['Europe/Atlantis', false],
  ['', false],
])('knows whether %j is a time zone', (zone, known) => {
  expect(isTimeZone(zone)).toBe(known);
});
