import { isRight } from 'fp-ts/lib/Either.js';
import { expect, it } from 'vitest';
import { ContactFilters } from '../../../src/codecs/campaign-audience.ts';
import type { FieldTypes } from '../../../src/domain/contacts/field-type.ts';
import { readCondition, tidyCondition, withKnownField } from '../../../src/domain/contacts/segment-filter.ts';

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

const types: FieldTypes = new Map([
  ['turnover', 'number'],
  ['since', 'date'],
  ['vip', 'boolean'],
  ['code', 'text'],
]);
const read = (field: string, operator: string, value?: unknown) =>
  readCondition({ field, operator, value }, types);

it.each([
  [
    'custom.turnover',
    'gt',
    '5.000,00',
    '"5.000,00" is not a number, which this field is: did you mean 5000?',
  ],
  [
    'custom.turnover',
    'in',
    ['1', 'viel'],
    '"viel" is not a number, which this field is: write it such as 5000 or 12.5',
  ],
  ['custom.vip', 'eq', 'ja', 'value must be true or false, which this field is: did you mean true?'],
  ['custom.since', 'before', '3.5.2026', expect.stringContaining('value must be an ISO 8601 date')],
  ['country', 'eq', 'Germany', '"Germany" is not a country by ISO 3166 alpha-2: did you mean DE?'],
  ['country', 'in', ['DE', 'XX'], '"XX" is not a country by ISO 3166 alpha-2: such as DE'],
  ['createdAt', 'within_days', 1.5, 'value must be a whole number of days from 1 to 36500'],
  ['last_read_at', 'within_days', 0, 'value must be a whole number of days from 1 to 36500'],
  ['segment', 'in', ['vip'], 'value must be an array of segment ids of GET /api/segments'],
])('refuses %s %s %j with a hint', (field, operator, value, message) => {
  expect(read(field, operator, value)).toEqual({ part: 'value', message });
});

it.each([
  ['custom.vip', 'gt', true, 'operator'],
  ['custom.code', 'within_days', 3, 'operator'],
  ['last_read_at', 'gt', '2026-01-01', 'operator'],
  ['segment', 'eq', '0197c0de-0000-7000-8000-0000000000e1', 'operator'],
  ['campaign.0197c0de-0000-7000-8000-0000000000e1', 'in', ['PENDING'], 'value'],
  ['campaign.0197c0de-0000-7000-8000-0000000000e1', 'exists', undefined, 'operator'],
  ['campaign.spring', 'in', ['READ'], 'field'],
])('refuses %s %s %j', (field, operator, value, part) => {
  expect(read(field, operator, value)).toMatchObject({ part });
});

it('compares by the type of a custom field', () => {
  expect(read('custom.code', 'gt', '5')).toMatchObject({ test: 'text_compare', value: '5' });
  expect(read('custom.turnover', 'gt', '5')).toMatchObject({ test: 'text_compare', value: 5 });
  expect(read('custom.unknown', 'gt', '5')).toMatchObject({ test: 'text_compare', value: 5 });
  expect(read('custom.since', 'within_days', '30')).toMatchObject({ test: 'time_recent', days: 30 });
  expect(read('custom.unknown', 'within_days', 30)).toMatchObject({ test: 'time_recent' });
});

it('spells fields whatever the case of their letters', () => {
  const field = (written: string) => tidyCondition({ field: written, operator: 'exists' }).field;
  expect(['FirstName', 'COUNTRY', 'Last_Read_At', 'CUSTOM.Stadt'].map(field)).toEqual([
    'firstName',
    'country',
    'last_read_at',
    'custom.Stadt',
  ]);
});

it('finds the custom field that is meant, if only one is', () => {
  const meant = (field: string, ...known: string[]) =>
    withKnownField({ field, operator: 'exists' }, new Set(known)).field;
  expect(meant('custom.stadt', 'Stadt')).toBe('custom.Stadt');
  expect(meant('custom.stadt', 'Stadt', 'stadt')).toBe('custom.stadt');
  expect(meant('custom.stadt', 'Stadt', 'STADT')).toBe('custom.stadt');
});
