import fc from 'fast-check';
import { expect, it } from 'vitest';
import { takeToken } from '../../src/domain/token-bucket.ts';

it('never lets more through in any span than the burst and the rate of that span', () => {
  const limits = fc.record({
    perSecond: fc.integer({ min: 1, max: 500 }),
    burst: fc.integer({ min: 1, max: 50 }),
  });
  const gaps = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 200 });
  fc.assert(
    fc.property(limits, gaps, ({ perSecond, burst }, pauses) => {
      let nowMs = 1_700_000_000_000;
      let fullAtMs: number | undefined;
      const allowed: number[] = [];
      for (const pause of pauses) {
        nowMs += pause;
        const decision = takeToken(fullAtMs, nowMs, { perSecond, burst });
        fullAtMs = decision.fullAtMs;
        if (decision.allowed) allowed.push(nowMs);
        else expect(decision.retryAfterMs).toBeGreaterThan(0);
      }
      for (const [index, start] of allowed.entries()) {
        for (const [offset, end] of allowed.slice(index).entries()) {
          expect(offset + 1).toBeLessThanOrEqual(burst + ((end - start) / 1000) * perSecond + 0.01);
        }
      }
    }),
  );
});

it('counts down what is left and allows again exactly when it said', () => {
  const limits = { perSecond: 10, burst: 3 };
  const nowMs = 1_000;
  const first = takeToken(undefined, nowMs, limits);
  const second = takeToken(first.fullAtMs, nowMs, limits);
  const third = takeToken(second.fullAtMs, nowMs, limits);
  expect([first, second, third].map(({ remaining }) => remaining)).toEqual([2, 1, 0]);
  const refused = takeToken(third.fullAtMs, nowMs, limits);
  expect(refused).toMatchObject({ allowed: false, remaining: 0 });
  expect(refused.retryAfterMs).toBeCloseTo(100, 0);
  expect(takeToken(refused.fullAtMs, nowMs + 100, limits).allowed).toBe(true);
});
