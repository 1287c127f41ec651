import { describe, expect, it } from 'vitest';
import { columnProblems, csvCandidateReader, csvKeys } from '../../../src/domain/audience/csv.ts';

const mapping = {
  phone_column: 0,
  country_code_column: 1,
  name_column: 2,
  email_column: null,
  custom_field_mapping: { city: 3 },
};

describe('columnProblems', () => {
  it('names every column that the header does not have', () => {
    expect(columnProblems(mapping, 4)).toEqual([]);
    expect(columnProblems(mapping, 2).map(({ field }) => field)).toEqual([
      'csv_mapping.name_column',
      'csv_mapping.custom_field_mapping.city',
    ]);
    expect(columnProblems(mapping, 2)[0]?.message).toBe(
      'csv_mapping.name_column is 2, but the last column of the CSV is 1',
    );
  });
});

const headers = ['phone', 'country', 'name', 'city'];

describe('csvKeys', () => {
  it('holds what the mapping names', () => {
    expect([...csvKeys(mapping)]).toEqual([
      ['name_column', 2],
      ['city', 3],
    ]);
  });
});

describe('csvCandidateReader', () => {
  const read = csvCandidateReader(mapping, headers);

  it.each([
    [['+4915112345678', '', 'Ada', ''], '4915112345678'],
    [['015112345678', '49', '', ''], '4915112345678'],
    [['015112345678', '+49', '', ''], '4915112345678'],
    [['015112345678', 'DE', '', ''], '4915112345678'],
    [['+14155552671', 'DE', '', ''], '14155552671'],
    [['4155552671', '1'], '14155552671'],
    [['4915112345678'], '4915112345678'],
    [['015112345678', 'ZZ'], undefined],
  ])('reads the number of %j', (cells, digits) => {
    expect(read(cells, 2).phone?.digits).toBe(digits);
  });

  it('reads international digits when the phone column stands for the country column', () => {
    const same = csvCandidateReader({ phone_column: 0, country_code_column: 0 }, ['phone', 'name']);
    expect(same(['4915112345678', 'x'], 2).phone?.digits).toBe('4915112345678');
  });

  it('takes the first word as first name and the rest as last name', () => {
    expect(read(['+4915112345678', '', ' Ada  King Lovelace ', ' Bonn '], 2).person).toEqual({
      firstName: 'Ada',
      lastName: 'King Lovelace',
      email: '',
      customFields: { city: 'Bonn' },
    });
  });

  it.each([
    ['Smith, John', 'John', 'Smith'],
    ['García Márquez, Ana María', 'Ana María', 'García Márquez'],
    ['Müller-Lüdenscheidt,Anna-Lena', 'Anna-Lena', 'Müller-Lüdenscheidt'],
    ['van der Berg, Jan', 'Jan', 'van der Berg'],
    ['Smith, John, Jr.', 'John', 'Smith, Jr.'],
    ['王，小明', '小明', '王'],
    ['John Smith, Ph.D.', 'John', 'Smith, Ph.D.'],
    ['Sammy Davis, Jr.', 'Sammy', 'Davis, Jr.'],
    ['Acme, Inc.', 'Acme', 'Inc.'],
    ['Smith, John, Berlin', 'Smith', 'John, Berlin'],
    ['Smith,', 'Smith', ''],
    [', John', 'John', ''],
    [',', '', ''],
    ['Madonna', 'Madonna', ''],
    ['Dr. Ada Lovelace', 'Dr.', 'Ada Lovelace'],
    ['Anna-Maria Schmidt-Groß', 'Anna-Maria', 'Schmidt-Groß'],
  ])('reads the name %j', (name, firstName, lastName) => {
    expect(read(['+4915112345678', '', name, ''], 2).person).toMatchObject({ firstName, lastName });
  });

  it('finds rows malformed that have no phone cell, or more cells than the header', () => {
    expect(csvCandidateReader({ ...mapping, phone_column: 3 }, headers)(['a', 'b'], 7)).toMatchObject({
      line: 7,
      malformed: 'The row has no cell for the phone column',
    });
    expect(read(['+4915112345678', '', 'King', 'Ada', 'Bonn'], 8).malformed).toBe(
      'The row has more cells than the header',
    );
    expect(read(['+4915112345678', '', 'Ada', 'Bonn', '', ' '], 9).malformed).toBeUndefined();
  });
});
