import { expect, it } from 'vitest';
import { guessFieldType, suggestNumber } from '../../../src/domain/contacts/field-type.ts';

it.each([
  [['5000', '812.5', '-3'], 'number'],
  [['8095,79', '1.234,56', '1,234.56'], 'number'],
  [['0', '1'], 'number'],
  [['2026-05-03', '31.12.2026', '2026-05-03T10:00:00Z', ''], 'date'],
  [['ja', 'nein', 'Yes'], 'boolean'],
  [['true'], 'boolean'],
  [['01067', '04109'], 'text'],
  [['+4915112345678'], 'text'],
  [['5000', 'viel'], 'text'],
  [['31.02.2026'], 'text'],
  [['5,000'], 'text'],
  [['', ' '], undefined],
])('takes %j for %s', (values, type) => {
  expect(guessFieldType(values)).toBe(type);
});

it.each([
  ['5.000,00', 5000],
  ['5,000.50', 5000.5],
  ['5,000', 5000],
  ['12,5', 12.5],
  ['1 200 €', 1200],
  ['1.234.567', 1_234_567],
  ['viel', undefined],
])('takes %s for %s', (text, meant) => {
  expect(suggestNumber(text)).toBe(meant);
});
