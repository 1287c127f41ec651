import { describe, expect, it } from 'vitest';
import { createWatermark } from '../../src/concurrency/watermark.ts';

/** A queue whose polls from the beginning take `fullMs`. */
function aQueue(fullMs: number, recent?: number) {
  let clock = 0;
  const from: (number | undefined)[] = [];
  const watermark = createWatermark<number>({ now: () => clock });
  return {
    from,
    poll: (first: number | undefined, pauseMs = 10) =>
      watermark.find(
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

describe('the watermark of a queue', () => {
  it('polls from the beginning every time while that is fast', async () => {
    const queue = aQueue(0);
    for (const first of [1, 2, undefined, 3]) await queue.poll(first, 0);
    expect(queue.from).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('polls from the first waiting entry, and from the beginning for 5% of the time', async () => {
    const queue = aQueue(40);
    const polls = 1 + (40 + 10) / 0.05 / 10;
    for (let first = 1; first <= polls + 1; first += 1) await queue.poll(first);
    expect(queue.from.slice(0, 4)).toEqual([undefined, 1, 2, 3]);
    expect(queue.from.filter((from) => from === undefined).length).toBe(2);
  });

  it('stays in place when a fast poll finds nothing', async () => {
    const queue = aQueue(40, 9);
    await queue.poll(7);
    for (const first of [undefined, undefined]) await queue.poll(first, 0);
    expect(queue.from).toEqual([undefined, 7, 7]);
  });

  it('moves to the recent entry when a slow poll finds nothing', async () => {
    const queue = aQueue(40, 9);
    for (const first of [undefined, undefined, 12, undefined]) await queue.poll(first);
    expect(queue.from).toEqual([undefined, 9, 9, 12]);
  });
});
