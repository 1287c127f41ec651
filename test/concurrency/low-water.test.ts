import { describe, expect, it } from 'vitest';
import { createLowWater } from '../../src/concurrency/low-water.ts';

/** A queue whose looks from the beginning take `fullMs`. */
function aQueue(fullMs: number, recent?: number) {
  let clock = 0;
  const from: (number | undefined)[] = [];
  const lowWater = createLowWater<number>({ now: () => clock });
  return {
    from,
    look: (first: number | undefined, pauseMs = 10) =>
      lowWater.find(
        async (after) => {
          from.push(after);
          clock += after === undefined ? fullMs : 0;
          clock += pauseMs;
          return first;
        },
        async () => recent,
      ),
  };
}

describe('the low water of a queue', () => {
  it('looks from the beginning every time while that costs nothing', async () => {
    const queue = aQueue(0);
    for (const first of [1, 2, undefined, 3]) await queue.look(first, 0);
    expect(queue.from).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('looks from the first that waited, and from the beginning for a twentieth of the time', async () => {
    const queue = aQueue(40);
    const looks = 1 + (40 + 10) / 0.05 / 10;
    for (let first = 1; first <= looks + 1; first += 1) await queue.look(first);
    expect(queue.from.slice(0, 4)).toEqual([undefined, 1, 2, 3]);
    expect(queue.from.filter((from) => from === undefined).length).toBe(2);
  });

  it('stays where it was while nothing waits and that is seen at once', async () => {
    const queue = aQueue(40, 9);
    await queue.look(7);
    for (const first of [undefined, undefined]) await queue.look(first, 0);
    expect(queue.from).toEqual([undefined, 7, 7]);
  });

  it('goes on from what came a moment ago when it took long to see that nothing waits', async () => {
    const queue = aQueue(40, 9);
    for (const first of [undefined, undefined, 12, undefined]) await queue.look(first);
    expect(queue.from).toEqual([undefined, 9, 9, 12]);
  });
});
