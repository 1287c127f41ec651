import fc from 'fast-check';
import examples from 'libphonenumber-js/examples.mobile.json';
import { parsePhoneNumberFromString, type CountryCode } from 'libphonenumber-js/max';
import metadata from 'libphonenumber-js/metadata.max.json';
import { describe, expect, it } from 'vitest';
import { callingCodeFor, normalisePhoneNumber } from '../../src/domain/phone-number.ts';

const countries = Object.keys(metadata.countries) as CountryCode[];
const callingCodeOf = (country: CountryCode) => String(metadata.countries[country]?.[0]);

const isMobile = (text: string) => {
  const parsed = parsePhoneNumberFromString(text, { extract: false });
  return (
    parsed?.isValid() === true &&
    parsed.number === text &&
    ['MOBILE', 'FIXED_LINE_OR_MOBILE'].includes(parsed.getType() ?? '')
  );
};

/** The result of libphonenumber-js alone. */
function oracle(text: string, defaultCountry?: CountryCode) {
  const parsed = parsePhoneNumberFromString(text, {
    ...(defaultCountry && { defaultCountry }),
    extract: false,
  });
  if (parsed?.isValid() !== true) return undefined;
  return { digits: parsed.number.slice(1), country: parsed.country ?? '' };
}

/** The same, but a calling code that stands before a mobile number is never taken for a part of it. */
function nationalOracle(text: string, country: CountryCode) {
  const code = callingCodeOf(country);
  const repeated = text.startsWith(code) && isMobile(`+${text}`) && !isMobile(`+${code}${text}`);
  if (repeated) return oracle(`+${text}`);
  return oracle(text, country) ?? (text.startsWith(code) ? oracle(`+${text}`) : undefined);
}

const digit = fc.integer({ min: 0, max: 9 }).map(String);

/** The example number of a country with a few digits replaced, added or taken away. */
const nearlyValid = fc
  .record({
    country: fc.constantFrom(...countries.filter((country) => examples[country] !== undefined)),
    edits: fc.array(fc.tuple(fc.nat(20), fc.constantFrom('replace', 'insert', 'delete'), digit), {
      maxLength: 3,
    }),
    tail: fc.array(digit, { minLength: 4, maxLength: 4 }),
    keepTail: fc.boolean(),
  })
  .map(({ country, edits, tail, keepTail }) => {
    let number = String(examples[country]);
    if (!keepTail) number = number.slice(0, -tail.length) + tail.join('');
    for (const [place, kind, value] of edits) {
      const index = Math.min(place, number.length);
      number =
        number.slice(0, index) +
        (kind === 'delete' ? '' : value) +
        number.slice(kind === 'insert' ? index : index + 1);
    }
    return { country, number };
  });

describe('normalisePhoneNumber', () => {
  it.each([
    ['+49 151 12345678', undefined, '4915112345678', 'DE'],
    ['4915112345678', undefined, '4915112345678', 'DE'],
    ['004915112345678', undefined, '4915112345678', 'DE'],
    ['0151/123 456-78', '49', '4915112345678', 'DE'],
    // With their decimals these would be valid numbers of other people.
    ['436641234567.0', undefined, '436641234567', 'AT'],
    ['436641234567.0', '43', '436641234567', 'AT'],
    ['393331234567.00', '39', '393331234567', 'IT'],
    ['0664.1234567', '43', '436641234567', 'AT'],
    ['0151 12345678', 'de', '4915112345678', 'DE'],
    ['15112345678', '+49', '4915112345678', 'DE'],
    ['4915112345678', '49', '4915112345678', 'DE'],
    ['0049 151 12345678', '49', '4915112345678', 'DE'],
    ['+919876543210', '49', '919876543210', 'IN'],
    ['9876543210', '+91', '919876543210', 'IN'],
    ['09876543210', '91', '919876543210', 'IN'],
    ['(212) 555-0123', '1', '12125550123', 'US'],
    ['(212) 736-5000', '1', '12127365000', 'US'],
    ['416 736 5000', 'US', '14167365000', 'CA'],
    ['02 1234 5678', 'IT', '390212345678', 'IT'],
    ['8 912 345-67-89', '7', '79123456789', 'RU'],
    ['\u202A+49\u00A0151\u200912345678\u202C', undefined, '4915112345678', 'DE'],
    ["'+4915112345678", undefined, '4915112345678', 'DE'],
    ['＋４９ １５１ １２３４５６７８', undefined, '4915112345678', 'DE'],
    ['٠١٥١١٢٣٤٥٦٧٨', '49', '4915112345678', 'DE'],
    ['+۴۹ ۱۵۱ ۱۲۳۴۵۶۷۸', undefined, '4915112345678', 'DE'],
    ['+800 1234 5678', undefined, '80012345678', ''],
  ])('reads %s with country %s', (input, defaultCountryCode, digits, country) => {
    const found = normalisePhoneNumber(input, defaultCountryCode);
    expect(found?.digits).toBe(digits);
    if (found !== undefined) {
      expect(found.country).toBe(country);
      expect(found.countryCode + found.nationalNumber).toBe(found.digits);
    }
  });

  it.each([
    '',
    ' ',
    '+',
    '12',
    'hello',
    '+4',
    '+49',
    '0',
    '999999999999999999',
    '4.91511E+12',
    '+49 151 12345678 ext. 5',
    '+1',
    '++4915112345678',
  ])('refuses %j', (input) => {
    expect(normalisePhoneNumber(input)).toBeUndefined();
  });

  it('refuses a national number when the country is unknown', () => {
    expect(normalisePhoneNumber('015112345678', 'Atlantis')).toBeUndefined();
    expect(normalisePhoneNumber('+4915112345678', 'Atlantis')?.digits).toBe('4915112345678');
  });

  it('says of international digits what the library says', () => {
    fc.assert(
      fc.property(nearlyValid, ({ country, number }) => {
        const digits = callingCodeOf(country) + number;
        const found = normalisePhoneNumber(`+${digits}`);
        expect(found && { digits: found.digits, country: found.country }).toEqual(oracle(`+${digits}`));
        expect(normalisePhoneNumber(digits)).toEqual(found);
      }),
      { numRuns: 5_000 },
    );
  });

  it('says of national digits what the library says', () => {
    const shapes = [
      (_: CountryCode, number: string) => number,
      (_: CountryCode, number: string) => `0${number}`,
      (country: CountryCode, number: string) => callingCodeOf(country) + number,
    ];
    fc.assert(
      fc.property(nearlyValid, fc.constantFrom(...shapes), ({ country, number }, shape) => {
        const digits = shape(country, number);
        const found = normalisePhoneNumber(digits, country);
        expect(found && { digits: found.digits, country: found.country }).toEqual(
          nationalOracle(digits, country),
        );
      }),
      { numRuns: 5_000 },
    );
  });

  it('never throws and gives only E.164 digits for any text', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.option(fc.string({ maxLength: 4 }), { nil: undefined }),
        (text, defaultCountryCode) => {
          const found = normalisePhoneNumber(text, defaultCountryCode);
          if (found !== undefined) expect(found.digits).toMatch(/^[1-9]\d{4,14}$/);
        },
      ),
    );
  });
});

describe('callingCodeFor', () => {
  it.each([
    ['49', '49'],
    ['+49', '49'],
    ['0049', '49'],
    ['DE', '49'],
    ['de', '49'],
    ['ca', '1'],
    ['', undefined],
    ['xx', undefined],
    ['4', undefined],
  ])('reads %j', (input, expected) => {
    expect(callingCodeFor(input)).toBe(expected);
  });
});
