import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { errorName, startPollingLoop } from '../../src/concurrency/polling-loop.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Starts a loop in fake time; `times` are those of its polls so far, in ms. */
function startLoop(answer: (poll: number) => boolean | 'empty') {
  const times: number[] = [];
  const begun = Date.now();
  const loop = startPollingLoop({
    name: 'test',
    logger: pino({ level: 'silent' }),
    idleMs: 100,
    longestIdleMs: 225,
    work: async () => {
      times.push(Date.now() - begun);
      return answer(times.length);
    },
  });
  return { loop, times };
}

/** Runs a loop for one second; returns the times of its polls. */
async function pollTimes(answer: (poll: number) => boolean | 'empty'): Promise<readonly number[]> {
  const { loop, times } = startLoop(answer);
  await vi.advanceTimersByTimeAsync(1_000);
  await loop.stop();
  return times;
}

test('empty polls lengthen the pause up to its limit', async () => {
  expect(await pollTimes(() => 'empty')).toEqual([0, 150, 375, 600, 825]);
});

test('a poll that found something shortens the pause again', async () => {
  expect(await pollTimes((poll) => (poll === 3 ? false : 'empty'))).toEqual([0, 150, 375, 475, 625, 850]);
});

test('a poll that may find more follows at once', async () => {
  expect(await pollTimes((poll) => (poll < 4 ? true : 'empty'))).toEqual([0, 0, 0, 0, 150, 375, 600, 825]);
});

test('a loop that is woken polls at once, also when it was polling at that moment', async () => {
  const { loop, times } = startLoop((poll) => {
    if (poll === 2) loop.wake();
    return false;
  });
  await vi.advanceTimersByTimeAsync(30);
  loop.wake();
  await vi.advanceTimersByTimeAsync(225);
  await loop.stop();
  expect(times).toEqual([0, 30, 30, 130, 230]);
});

test('a poll left to another process does not end a series of failures', async () => {
  const lines: string[] = [];
  const loop = startPollingLoop({
    name: 'test',
    logger: pino(
      { base: null },
      { write: (line) => void lines.push((JSON.parse(line) as { msg: string }).msg) },
    ),
    idleMs: 100,
    work: (() => {
      const polls = ['fails', 'skipped', 'fails', 'skipped', 'works'];
      return async () => {
        const poll = polls.shift();
        if (poll === 'fails') throw new Error('refused');
        return poll === 'skipped' ? poll : false;
      };
    })(),
  });
  await vi.advanceTimersByTimeAsync(2_000);
  await loop.stop();
  expect(lines).toEqual(['loop failed, trying again', 'loop works again']);
});

test.each([
  [
    'an error of gRPC, by its text',
    { name: 'ServiceError', code: 3, details: 'no mapping for CampaignStatus' },
    'ServiceError 3: no mapping for CampaignStatus',
  ],
  [
    'a cause of gRPC',
    { name: 'ServiceError', cause: { code: 14, details: 'unavailable' } },
    'ServiceError 14: unavailable',
  ],
  [
    'an error of Postgres, without its text',
    { name: 'DatabaseError', code: '23505', details: 'Key (phone_number)=(49151)' },
    'DatabaseError 23505',
  ],
  ['a code without a text', { name: 'ServiceError', code: 13 }, 'ServiceError 13'],
  [
    'the beginning of a long text',
    { name: 'ServiceError', code: 3, details: 'x'.repeat(1_000) },
    `ServiceError 3: ${'x'.repeat(300)}`,
  ],
  ['an error without a code', { name: 'TypeError' }, 'TypeError'],
])('names %s', (_, fields, name) => {
  expect(errorName(Object.assign(new Error('of 4915112345678'), fields))).toBe(name);
});

test('names what is no error', () => {
  expect(errorName('of 4915112345678')).toBe('unknown');
});
