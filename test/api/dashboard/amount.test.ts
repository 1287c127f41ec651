import { expect, it, vi } from 'vitest';
import { readAmount } from '../../../dashboard/src/amount.ts';

it.each([
  ['20.28', '20.28'],
  ['20,28', '20.28'],
  ['1000', '1000'],
  ['0.055', '0.055'],
  ['1,234.56', '1234.56'],
  ['1.234,56', '1234.56'],
  ['1 000,5', '1000.5'],
  ['1,000,000', '1000000'],
  ["1'000.50", '1000.5'],
  ['10.0', '10'],
  ['010', '10'],
  ['0,50', '0.5'],
  ['1,23,456.78', '123456.78'],
  ['1,00,000', '100000'],
])('reads %s as %s', (typed, text) => expect(readAmount(typed)).toEqual({ kind: 'amount', text }));

it.each([
  '1,000',
  '1.000',
  '12,345',
  '0',
  '-5',
  '',
  'abc',
  '1,2,3',
  '1.2.3',
  '1,00,0.5',
  '1,23,4567',
  '1.23.456',
  '0.0000001',
  '1e3',
])('refuses %j as ambiguous or invalid', (typed) => expect(readAmount(typed).kind).toBe('problem'));

it('gives examples in the notation of the reader', () => {
  const { NumberFormat } = Intl;
  const german = vi.spyOn(Intl, 'NumberFormat').mockImplementation(function (_locale, options) {
    return new NumberFormat('de', options);
  });
  try {
    expect(readAmount('')).toEqual({ kind: 'problem', message: 'Type an amount, such as 20,28.' });
    expect(readAmount('1.2.3')).toMatchObject({ message: expect.stringContaining('1.234,56') });
  } finally {
    german.mockRestore();
  }
});
