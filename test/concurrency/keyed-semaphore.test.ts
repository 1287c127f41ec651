import { expect, it } from 'vitest';
import { createKeyedSemaphore } from '../../src/concurrency/keyed-semaphore.ts';

it('leaves slots to other keys when one key asks for all of them', async () => {
  const slots = createKeyedSemaphore({ total: 3, perKey: 2, waiting: 0 });
  const first = await slots.acquire([1]);
  expect(first).toBeDefined();
  expect(await slots.acquire([1])).toBeDefined();
  expect(await slots.acquire([1])).toBeUndefined();
  expect(await slots.acquire([2])).toBeDefined();
  expect(await slots.acquire([3])).toBeUndefined();
  first?.();
  expect(await slots.acquire([3])).toBeDefined();
  expect(await slots.acquire([1])).toBeUndefined();
});

it('lets a key take no more than it leaves, so that no two keys take all', async () => {
  const slots = createKeyedSemaphore({ total: 10, perKey: 'what it leaves', waiting: 0 });
  const taken = async (key: number): Promise<number> => {
    for (let count = 0; ; count += 1) if ((await slots.acquire([key])) === undefined) return count;
  };
  expect(await taken(1)).toBe(5);
  expect(await taken(2)).toBe(2);
  for (const key of [3, 4, 5]) expect(await taken(key)).toBe(1);
  expect(await taken(6)).toBe(0);
});

it('admits every waiting caller that a freed slot makes room for', async () => {
  const slots = createKeyedSemaphore({ total: 6, perKey: 'what it leaves', waiting: 9 });
  const first = [await slots.acquire([1]), await slots.acquire([1]), await slots.acquire([1])];
  await slots.acquire([2]);
  let admitted = 0;
  const waiting = [1, 2].map((key) => slots.acquire([key]).then(() => (admitted += 1)));
  for (const release of first) release?.();
  await Promise.all(waiting);
  expect(admitted).toBe(2);
});

it('admits waiting callers in their order, past a key that has enough, and turns away callers beyond `waiting`', async () => {
  const slots = createKeyedSemaphore({ total: 2, perKey: 1, waiting: 2 });
  const order: string[] = [];
  const one = await slots.acquire([1]);
  const two = await slots.acquire([2]);
  const oneAgain = slots.acquire([1]).then((release) => {
    order.push('one again');
    return release;
  });
  const three = slots.acquire([3]).then((release) => {
    order.push('three');
    return release;
  });
  expect(await slots.acquire([4])).toBeUndefined();
  two?.();
  await three;
  expect(order).toEqual(['three']);
  one?.();
  await oneAgain;
  expect(order).toEqual(['three', 'one again']);
});

it('limits each of several keys, in its slots and in its waiting callers', async () => {
  const slots = createKeyedSemaphore({ total: 9, perKey: 1, waiting: 9, waitingPerKey: 1 });
  const release = await slots.acquire(['workspace 1', 'slow.example']);
  const waiting = slots.acquire(['workspace 2', 'slow.example']);
  expect(await slots.acquire(['workspace 3', 'slow.example'])).toBeUndefined();
  expect(await slots.acquire(['workspace 3', 'fast.example'])).toBeDefined();
  release?.();
  expect(await waiting).toBeDefined();
});

it('gives no slot to a caller that stopped waiting', async () => {
  const slots = createKeyedSemaphore({ total: 1, perKey: 1, waiting: 9 });
  const release = await slots.acquire([1]);
  const stop = new AbortController();
  const stopped = slots.acquire([2], stop.signal);
  const next = slots.acquire([3]);
  stop.abort(new Error('cancelled'));
  await expect(stopped).rejects.toThrow('cancelled');
  release?.();
  expect(await next).toBeDefined();
});
