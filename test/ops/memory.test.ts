import { expect, it } from 'vitest';
import { compareMemory } from '../../src/local-stack/production/memory.ts';

it('compares the median of the first and of the last minute, also of a program that was away at first', () => {
  const samples = Array.from({ length: 61 }, (_, index) => ({
    at: index * 5,
    programs: { api: 100 + index, ...(index > 2 && { worker: index < 30 ? 300 : 200 }) },
  }));
  expect(compareMemory(samples)).toEqual({
    api: { first: 106, last: 154 },
    worker: { first: 300, last: 200 },
  });
});
