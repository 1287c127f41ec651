import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatAmount, largestAmount, parseAmount } from '../../src/domain/money.ts';

test.each([
  ['0', 0n],
  ['12.5', 12_500_000n],
  ['0.000001', 1n],
  ['-3', -3_000_000n],
  ['0012.50', 12_500_000n],
  ['1000000000000', largestAmount],
])('reads %s', (text, amount) => {
  expect(parseAmount(text)).toBe(amount);
});

test.each([
  '',
  '.5',
  '5.',
  '1.2345678',
  '+1',
  '1e6',
  '١',
  ' 1',
  '1 ',
  '--1',
  '1000000000000.000001',
  'Infinity',
])('refuses %j', (text) => {
  expect(parseAmount(text)).toBeUndefined();
});

test('reads back every amount it writes', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -largestAmount, max: largestAmount }), (amount) => {
      const text = formatAmount(amount);
      expect(text).toMatch(/^-?\d+(\.\d{0,5}[1-9])?$/);
      expect(parseAmount(text)).toBe(amount);
    }),
  );
});
