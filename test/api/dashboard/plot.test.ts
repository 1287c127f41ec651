/** The parts of a plot where the clocks change. */
import { afterEach, expect, it } from 'vitest';
import { filled, grouped, type Part } from '../../../dashboard/src/parts/display/plot/series.ts';

const zone = process.env['TZ'];
afterEach(() => {
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
});

const part = (at: string): Part => ({
  at: new Date(at).toISOString(),
  accepted: 1,
  delivered: 0,
  read: 0,
  failed: 0,
});

it('keeps apart the two hours that the end of summer time gives one name', () => {
  process.env['TZ'] = 'Europe/Berlin';
  const parts = ['2026-10-25T00:30Z', '2026-10-25T01:30Z'].map(part);
  for (const step of ['minute', 'hour'] as const) {
    const sums = grouped(parts, step);
    expect(sums).toHaveLength(2);
    expect(filled(sums, step).reduce((sum, { accepted }) => sum + accepted, 0)).toBe(2);
  }
});

it('shows the hours of the service in a zone half an hour off', () => {
  process.env['TZ'] = 'Asia/Kolkata';
  expect(grouped([part('2026-10-25T06:00Z')], 'hour').map(({ at }) => at)).toEqual([
    '2026-10-25T06:00:00.000Z',
  ]);
});

it('shows the days after one that begins at 01:00', () => {
  process.env['TZ'] = 'Africa/Cairo';
  // The clocks of Egypt go from 00:00 to 01:00 on 24 April 2026.
  const parts = ['2026-04-23T12:00Z', '2026-04-24T12:00Z', '2026-04-25T12:00Z', '2026-04-26T12:00Z'].map(
    part,
  );
  const days = filled(
    grouped(parts, 'day'),
    'day',
    new Date('2026-04-23T12:00Z'),
    new Date('2026-04-26T12:00Z'),
  );
  expect(days.map(({ accepted }) => accepted)).toEqual([1, 1, 1, 1]);
});
