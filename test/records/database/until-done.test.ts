import { expect, it } from 'vitest';
import { untilDone } from '../../../src/records/database/until-done.ts';

const away = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const deadlock = Object.assign(new Error('deadlock detected'), { code: '40P01' });
const wrong = Object.assign(new Error('new row violates check constraint'), { code: '23514' });

/** An attempt that fails with each of the errors in order, then succeeds. `calls` counts the attempts. */
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

it('retries while the database is unreachable', async () => {
  const attempt = failing(away, new Error('Connection terminated', { cause: away }), deadlock);
  expect(await untilDone(attempt)).toBe('done');
  expect(attempt.calls).toBe(4);
});

it('gives up when its time limit has passed', async () => {
  await expect(untilDone(() => Promise.reject(away), 700)).rejects.toBe(away);
});

it('does not retry other errors', async () => {
  const attempt = failing(wrong);
  await expect(untilDone(attempt)).rejects.toBe(wrong);
  expect(attempt.calls).toBe(1);
});

it('gives up after ten retries when every attempt ends in a deadlock', async () => {
  const attempt = failing(...Array<Error>(20).fill(deadlock));
  await expect(untilDone(attempt)).rejects.toBe(deadlock);
  // Ten pauses of half a second; fewer on a machine that made them longer.
  expect(attempt.calls).toBeLessThanOrEqual(12);
});
