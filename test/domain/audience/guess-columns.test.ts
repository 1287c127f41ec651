import { expect, it } from 'vitest';
import { guessColumns } from '../../../src/domain/audience/guess-columns.ts';

it('recognises columns by their headers and cells', () => {
  const { mapping, confidence } = guessColumns(
    ['Kunde', 'Stadt', 'Handy', 'Land', 'E-Mail'],
    [
      ['Ada Lovelace', 'Bonn', '0151 12345678', 'DE', 'ada@example.com'],
      ['Grace Hopper', 'Köln', '0151 12345679', '49', 'grace@example.com'],
    ],
  );
  expect(mapping).toEqual({
    phone_column: 2,
    country_code_column: 3,
    name_column: 0,
    email_column: 4,
    custom_field_mapping: { Stadt: 1 },
  });
  expect(confidence).toEqual({ phone_column: 1, country_code_column: 1, name_column: 1, email_column: 1 });
});

it('recognises numbers under a meaningless header, and needs no country column for international numbers', () => {
  const { mapping, confidence } = guessColumns(
    ['a', 'b'],
    [
      ['x', '+4915112345678'],
      ['y', '+919876543210'],
    ],
  );
  expect(mapping).toMatchObject({ phone_column: 1, country_code_column: 1 });
  expect(confidence['country_code_column']).toBe(1);
});

it('returns a low confidence for ambiguous columns', () => {
  const { mapping, confidence } = guessColumns(['a'], [['x']]);
  expect(mapping.phone_column).toBe(0);
  expect(confidence).toEqual({ phone_column: 0, country_code_column: 0 });
});

it('leaves out columns whose header is no name of a custom field', () => {
  const { mapping } = guessColumns(['phone', 'x'.repeat(256), '__proto__', 'city'], [['+4915112345678']]);
  expect(mapping.custom_field_mapping).toEqual({ city: 3 });
});
