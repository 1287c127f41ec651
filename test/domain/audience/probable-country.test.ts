import { describe, expect, it } from 'vitest';
import { csvCandidateReader } from '../../../src/domain/audience/csv.ts';
import { plainNumber, probableCountry } from '../../../src/domain/audience/probable-country.ts';

const read = csvCandidateReader({ phone_column: 0, country_code_column: 1 }, ['phone', 'country']);
const plain = (cells: readonly string[]) => plainNumber(read(cells, 2), 1);
const numbersOf = (phones: readonly string[]) => phones.flatMap((phone) => plain([phone, '']) ?? []);

const indian = ['9876543210', '98765 43211', '8876543212', '7876543213', '6376543214', '9122765432'];
const peruvian = ['51998873403', '51998873404', '51998873405', '51998873406', '51998873407'];

describe('plainNumber', () => {
  it.each([
    ['9876543210', '', '9876543210'],
    ["'98765-43210", '', '9876543210'],
    ['09876543210', 'n/a', '09876543210'],
  ])('takes %s with the country "%s"', (phone, country, digits) => {
    expect(plain([phone, country])).toMatchObject({ digits });
  });

  it.each([
    ['+919876543210', ''],
    ['00919876543210', ''],
    ['9876543210', 'India'],
    ['https://wa.me/919876543210', ''],
    ['tel:9876543210;phone-context=+91', ''],
    ['no number', ''],
    ['', ''],
  ])('leaves out %s with the country "%s"', (phone, country) => {
    expect(plain([phone, country])).toBeUndefined();
  });
});

describe('probableCountry', () => {
  it('names the country whose mobile numbers the refused ones are', () => {
    expect(probableCountry(numbersOf(indian), [])).toMatch(
      /^6 of 6 numbers without \+ and country are mobile numbers of India, .* give default_country IN$/,
    );
  });

  it('prefers the likely countries', () => {
    const german = ['015123920101', '015123920102', '017123920103', '016023920104', '015223920105'];
    expect(probableCountry(numbersOf(german), ['', 'DE'])).toContain('give default_country DE');
  });

  it('says nothing of numbers that are read as they stand', () => {
    expect(probableCountry(numbersOf(peruvian), ['BR'])).toBeUndefined();
    expect(probableCountry(numbersOf(indian.map((digits) => `91${digits}`)), ['IN'])).toBeUndefined();
  });

  it('says nothing of a few numbers, or of numbers of many countries', () => {
    expect(probableCountry(numbersOf(indian.slice(0, 4)), ['IN'])).toBeUndefined();
    const mixed = ['9876543210', '015123920101', '0612345678', '4155552671', '11987654321', '12'];
    expect(probableCountry(numbersOf(mixed), [])).toBeUndefined();
  });

  it('names it also if the numbers are read, but of five countries', () => {
    // Mobile numbers of Brazil without 55.
    const brazilian = [
      '51998873403',
      '34998873403',
      '31998873403',
      '62998873403',
      '92998873403',
      '49998873403',
    ];
    const numbers = numbersOf(brazilian);
    expect(probableCountry(numbers, [])).toContain('give default_country BR');
  });
});
