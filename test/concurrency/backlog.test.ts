import { expect, test } from 'vitest';
import { createBacklog } from '../../src/concurrency/backlog.ts';

test('holds up whoever adds more than may be under way, until the first is done', async () => {
  const backlog = createBacklog(1);
  let end = (): void => undefined;
  await backlog.add(
    new Promise((resolve) => {
      end = resolve;
    }),
  );
  let added = false;
  const second = backlog.add(Promise.resolve()).then(() => {
    added = true;
  });
  await new Promise((next) => setImmediate(next));
  expect(added).toBe(false);
  end();
  await second;
  expect(added).toBe(true);
});

test('tells of a failure when room for more is asked for, or at the end', async () => {
  const full = createBacklog(1);
  await full.add(Promise.reject(new Error('first')));
  await expect(full.add(Promise.resolve())).rejects.toThrow('first');
  const ended = createBacklog(4);
  await ended.add(Promise.resolve());
  await ended.add(Promise.reject(new Error('second')));
  await expect(ended.settle()).rejects.toThrow('second');
});
