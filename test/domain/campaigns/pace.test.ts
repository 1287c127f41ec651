import { expect, it } from 'vitest';
import {
  rateOf,
  secondsLeft,
  withSample,
  type ProgressSample,
} from '../../../src/records/campaigns/progress-feed.ts';

it('takes the rate from the last ten seconds', () => {
  let samples: readonly ProgressSample[] = [];
  for (let second = 0; second <= 30; second += 1) {
    // 10 a second at first, 80 from the twentieth second on.
    const done = second <= 20 ? second * 10 : 200 + (second - 20) * 80;
    samples = withSample(samples, { atMs: second * 1000, done });
  }
  expect(rateOf(samples)).toBe(80);
  expect(samples.length).toBeLessThan(13);
});

it('returns no rate from a single sample, nor from samples of the same time', () => {
  expect(rateOf([])).toBe(0);
  expect(rateOf([{ atMs: 1, done: 5 }])).toBe(0);
  expect(
    rateOf([
      { atMs: 1, done: 5 },
      { atMs: 1, done: 9 },
    ]),
  ).toBe(0);
});

it('returns the time left where there is a rate', () => {
  expect(secondsLeft(100, 80)).toBe(2);
  expect(secondsLeft(100, 0)).toBeNull();
  expect(secondsLeft(0, 80)).toBeNull();
});
