import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { groupCalls } from '../../src/concurrency/group-calls.ts';

/** Remembers its groups and echoes their items. */
function recording() {
  const groups: { readonly items: readonly number[]; readonly at: number }[] = [];
  const run = async (items: readonly number[]) => {
    groups.push({ items, at: performance.now() });
    await sleep(5);
    return items;
  };
  return { groups, run };
}

it('groups calls made while an earlier group is running', async () => {
  const { groups, run } = recording();
  const call = groupCalls(run, { maxSize: 3, lanes: 1 });
  const first = call(1);
  await sleep(2);
  expect(await Promise.all([first, ...[2, 3, 4, 5].map(call)])).toEqual([1, 2, 3, 4, 5]);
  expect(groups.map(({ items }) => items)).toEqual([[1], [2, 3, 4], [5]]);
});

it('groups calls of one turn of the event loop, however deep in promises', async () => {
  const { groups, run } = recording();
  const call = groupCalls(run, { maxSize: 10, lanes: 1 });
  const deep = async (item: number) => {
    for (let level = 0; level < item; level += 1) await Promise.resolve();
    return call(item);
  };
  expect(await Promise.all([1, 2, 3, 4].map(deep))).toEqual([1, 2, 3, 4]);
  expect(groups.map(({ items }) => items)).toEqual([[1, 2, 3, 4]]);
});

it('runs no empty group when several lanes wake for the same calls', async () => {
  const { groups, run } = recording();
  const call = groupCalls(run, { maxSize: 3, lanes: 3 });
  expect(await Promise.all([1, 2, 3, 4].map(call))).toEqual([1, 2, 3, 4]);
  expect(groups.map(({ items }) => items)).toEqual([[1, 2, 3], [4]]);
  expect(await call(5)).toBe(5);
});

it('spaces groups under load, and starts a lone call in the next turn of the event loop', async () => {
  const { groups, run } = recording();
  const call = groupCalls(run, { maxSize: 50, lanes: 1, spacingMs: 1_000 });
  const lone = call(0);
  for (let turns = 0; turns < 2; turns += 1) await turn();
  expect(groups).toHaveLength(1);
  await lone;
  const calls: Promise<number>[] = [];
  for (let item = 1; item <= 10; item += 1) {
    calls.push(call(item));
    await turn();
  }
  expect(await Promise.all(calls)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(groups.length).toBeLessThanOrEqual(3);
  expect((groups[1]?.at ?? 0) - (groups[0]?.at ?? 0)).toBeGreaterThanOrEqual(995);
});

it('fails every call of a group that fails, and goes on', async () => {
  const call = groupCalls<number, number>(
    async (items) => {
      await sleep(1);
      if (items.includes(2)) throw new Error('no');
      return items;
    },
    { maxSize: 2, lanes: 1 },
  );
  const outcomes = await Promise.allSettled([1, 2, 3, 4].map(call));
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled']);
});
