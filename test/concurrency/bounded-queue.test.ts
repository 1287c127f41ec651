import { expect, test } from 'vitest';
import { createBoundedQueue } from '../../src/concurrency/bounded-queue.ts';

test('waits for the oldest task once the queue is full', async () => {
  const queue = createBoundedQueue(1);
  let end = (): void => undefined;
  await queue.add(
    new Promise((resolve) => {
      end = resolve;
    }),
  );
  let added = false;
  const second = queue.add(Promise.resolve()).then(() => {
    added = true;
  });
  await new Promise((next) => setImmediate(next));
  expect(added).toBe(false);
  end();
  await second;
  expect(added).toBe(true);
});

test('rejects with the error of an earlier task, on the next add or at the end', async () => {
  const full = createBoundedQueue(1);
  await full.add(Promise.reject(new Error('first')));
  await expect(full.add(Promise.resolve())).rejects.toThrow('first');
  const ended = createBoundedQueue(4);
  await ended.add(Promise.resolve());
  await ended.add(Promise.reject(new Error('second')));
  await expect(ended.settle()).rejects.toThrow('second');
});
