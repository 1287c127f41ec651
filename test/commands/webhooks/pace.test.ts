import { expect, it } from 'vitest';
import { createPace, createProcessorMeter } from '../../../src/commands/webhooks/pace.ts';

/** What is taken within a second when everything that may be taken is. */
function takenInASecond(pace: ReturnType<typeof createPace>, from: number): number {
  let taken = 0;
  for (let now = from; now <= from + 1000; now += 50) {
    const room = pace.room(now);
    pace.took(room);
    taken += room;
  }
  return taken;
}

it('knows no limit until sending goes short', () => {
  const pace = createPace();
  expect(pace.press(false, 0)).toBeUndefined();
  expect(pace.room(0)).toBe(Infinity);
  expect(pace.press(true, 0)).toBe('begun');
  expect(pace.press(true, 0)).toBeUndefined();
});

it('grants less and less while sending goes short, and never nothing', () => {
  const pace = createPace();
  pace.press(true, 0);
  const first = takenInASecond(pace, 0);
  expect(first).toBeLessThanOrEqual(8);
  for (let at = 0; at < 10; at += 1) pace.press(true, 1000);
  const last = takenInASecond(pace, 1000);
  expect(last).toBeLessThan(first);
  expect(last).toBeGreaterThanOrEqual(3);
});

it('lets go by and by once sending has what it needs', () => {
  const pace = createPace();
  for (let at = 0; at < 10; at += 1) pace.press(true, 0);
  const pressed = takenInASecond(pace, 0);
  for (let at = 0; at < 10; at += 1) pace.press(false, 1000);
  expect(takenInASecond(pace, 1000)).toBeGreaterThan(pressed);
  expect(pace.room(2000)).toBeLessThan(Infinity);
  const answers = Array.from({ length: 80 }, () => pace.press(false, 3000));
  expect(answers.filter((answer) => answer !== undefined)).toEqual(['ended']);
  expect(pace.room(3000)).toBe(Infinity);
});

it('saves up no more than a burst', () => {
  const pace = createPace();
  pace.press(true, 0);
  expect(pace.room(60_000)).toBe(4);
});

it('measures a share of the processors', () => {
  const busyShare = createProcessorMeter();
  expect(busyShare()).toBeGreaterThanOrEqual(0);
  expect(busyShare()).toBeLessThanOrEqual(1);
});
