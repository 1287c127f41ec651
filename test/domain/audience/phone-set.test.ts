import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createPhoneSet } from '../../../src/domain/audience/phone-set.ts';

it('returns true only for the first occurrence of a number', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          fc.bigInt({ min: 10_000n, max: 999_999_999_999_999n }),
          fc.bigInt({ min: 10_000n, max: 10_050n }),
        ),
        { maxLength: 400 },
      ),
      (numbers) => {
        const set = createPhoneSet();
        const seen = new Set<bigint>();
        for (const number of numbers) {
          expect(set.add(String(number))).toBe(!seen.has(number));
          seen.add(number);
        }
      },
    ),
  );
});

it('holds a list of neighbouring numbers, grown many times', () => {
  const set = createPhoneSet();
  const countNew = (step: number) => {
    let added = 0;
    for (let i = 0; i < 200_000; i += step) if (set.add(String(491_510_000_000 + i))) added += 1;
    return added;
  };
  expect(countNew(1)).toBe(200_000);
  expect(countNew(997)).toBe(0);
});
