import { expect, it } from 'vitest';
import { untilDone } from '../../../src/records/database/until-done.ts';

const away = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const deadlock = Object.assign(new Error('deadlock detected'), { code: '40P01' });
const wrong = Object.assign(new Error('new row violates check constraint'), { code: '23514' });

/** Fails in turn, then answers; `calls` counts. */
function failing(...errors: readonly Error[]) {
  const attempt = async () => {
    attempt.calls += 1;
    const error = errors[attempt.calls - 1];
    if (error !== undefined) throw error;
    return 'done';
  };
  attempt.calls = 0;
  return attempt;
}

it('waits for a database that is away', async () => {
  const attempt = failing(away, new Error('Connection terminated', { cause: away }), deadlock);
  expect(await untilDone(attempt)).toBe('done');
  expect(attempt.calls).toBe(4);
});

it('waits no longer than it may', async () => {
  await expect(untilDone(() => Promise.reject(away), 700)).rejects.toBe(away);
});

it('fails at once with anything else', async () => {
  const attempt = failing(wrong);
  await expect(untilDone(attempt)).rejects.toBe(wrong);
  expect(attempt.calls).toBe(1);
});

it('gives up within seconds what keeps colliding', async () => {
  const began = performance.now();
  await expect(untilDone(() => Promise.reject(deadlock))).rejects.toBe(deadlock);
  expect(performance.now() - began).toBeLessThan(10_000);
}, 15_000);
