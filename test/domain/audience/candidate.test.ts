import { expect, test } from 'vitest';
import { maskedCell } from '../../../src/domain/audience/candidate.ts';
test.each([
  ['nonsense', 'nonsense'],
  ['12ab', '12ab'],
  ['Ada +49 1511 2345678 9012', 'aaa +** **** ******* *012'],
  ['٠١٢٣٤٥', '***٣٤٥'],
  ['ada@example.com', 'aaa@aaaaaaa.aaa'],
])('of the cell %s, which holds no readable number, %s is stored', (cell, stored) => {
  expect(maskedCell(cell)).toBe(stored);
});
