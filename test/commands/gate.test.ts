import { expect, test } from 'vitest';
import { createGate } from '../../src/commands/gate.ts';

test('lets no more work run at once than its limit, in the order it came, failures included', async () => {
  const gate = createGate(2);
  const order: number[] = [];
  let running = 0;
  let most = 0;
  const work = (n: number) =>
    gate(async () => {
      order.push(n);
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      running -= 1;
      if (n === 1) throw new Error('broken');
      return n;
    });
  const results = await Promise.allSettled([0, 1, 2, 3, 4].map(work));
  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
    'fulfilled',
  ]);
  expect(order).toEqual([0, 1, 2, 3, 4]);
  expect(most).toBe(2);
  expect(await work(5)).toBe(5);
});
