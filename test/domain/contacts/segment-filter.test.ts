import { isRight } from 'fp-ts/lib/Either.js';
import { expect, it } from 'vitest';
import { ContactFilters } from '../../../src/codecs/campaign-audience.ts';
import { readCondition } from '../../../src/domain/contacts/segment-filter.ts';

it.each([
  ['eq', 'not_exists'],
  ['neq', 'exists'],
])('reads %s with null as %s', (operator, meant) => {
  for (const field of ['email', 'createdAt', 'tag', 'custom.city'])
    expect(readCondition({ field, operator, value: null })).toEqual(
      readCondition({ field, operator: meant }),
    );
});

it('asks for a value that is missing', () => {
  expect(readCondition({ field: 'email', operator: 'eq' })).toMatchObject({ part: 'value' });
  expect(readCondition({ field: 'email', operator: 'contains', value: null })).toMatchObject({
    part: 'value',
  });
});

it('takes filters of a campaign without a match', () => {
  const conditions = [{ field: 'email', operator: 'eq', value: null }];
  expect(isRight(ContactFilters.decode({ conditions }))).toBe(true);
});
