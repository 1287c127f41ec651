import { expect, it } from 'vitest';
import { describeTrend, judgeMemory } from '../../local/rehearsals/production/memory-trend.ts';

/** One sample every five seconds. */
function samplesOf(seconds: number, sizesAt: (at: number) => Readonly<Record<string, number>>) {
  return Array.from({ length: seconds / 5 + 1 }, (_, index) => ({
    at: index * 5,
    programs: sizesAt(index * 5),
  }));
}

it('calls level what only grew in the first minute, and tells the slope of the second half', () => {
  const samples = samplesOf(600, (at) => ({ api: at < 60 ? 100 + at : 160 }));
  expect(judgeMemory(samples)).toEqual([{ name: 'api', first: 160, last: 160, slope: 0, verdict: 'level' }]);
});

it('calls growing what lies more than a tenth above the first minute behind the warm-up', () => {
  const samples = samplesOf(600, (at) => ({ slowly: 400 + at / 20, leaking: 400 + at / 10 }));
  expect(judgeMemory(samples)).toMatchObject([
    { name: 'leaking', first: 409, slope: expect.closeTo(6), verdict: 'growing' },
    { name: 'slowly', slope: expect.closeTo(3), verdict: 'level' },
  ]);
});

it('allows a small program its garbage', () => {
  const samples = samplesOf(300, (at) => ({ small: at < 200 ? 30 : 62, smaller: at < 200 ? 30 : 63 }));
  expect(judgeMemory(samples)).toMatchObject([
    { name: 'small', verdict: 'level' },
    { name: 'smaller', verdict: 'growing' },
  ]);
});

it('judges a program by its median when it was away for a while or collects its garbage', () => {
  const samples = samplesOf(600, (at) => (at > 30 && at < 70 ? {} : { worker: at % 30 === 0 ? 250 : 300 }));
  expect(judgeMemory(samples)).toEqual([
    { name: 'worker', first: 300, last: 300, slope: 0, verdict: 'level' },
  ]);
});

it('judges nothing when there are not two minutes behind the warm-up', () => {
  expect(judgeMemory(samplesOf(175, () => ({ api: 100 })))).toBeUndefined();
  expect(judgeMemory([])).toBeUndefined();
});

it('says of shared memory that it fills', () => {
  const samples = samplesOf(300, (at) => ({ 'postgres, shared': at }));
  expect(judgeMemory(samples)).toMatchObject([{ verdict: 'filling' }]);
});

it('describes a trend in one line', () => {
  const line = describeTrend({ name: 'worker-1', first: 400, last: 391, slope: -0.25, verdict: 'level' });
  expect(line.trim().split(/\s+/).join(' ')).toBe('worker-1 400 → 391 -0.3 per minute level');
});
