import fc from 'fast-check';
import examples from 'libphonenumber-js/examples.mobile.json';
import { parsePhoneNumberFromString, type CountryCode } from 'libphonenumber-js/max';
import metadata from 'libphonenumber-js/metadata.max.json';
import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { presentForm } from '../../src/domain/number-rules.ts';
import {
  callingCodeFor,
  isPhoneNumber,
  normalisePhoneNumber,
  readNumber,
  type PhoneNumber,
} from '../../src/domain/phone-number.ts';

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
  // E.164 allows 15 digits; the library's German plan goes further.
  if (parsed?.isValid() !== true || parsed.number.length > 16) return undefined;
  return { digits: parsed.number.slice(1), country: parsed.country ?? '' };
}

/** The same, but a calling code that stands before a mobile number is never taken for a part of it. */
function nationalOracle(text: string, country: CountryCode) {
  const code = callingCodeOf(country);
  const repeated = text.startsWith(code) && isMobile(`+${text}`) && !isMobile(`+${code}${text}`);
  if (repeated) return oracle(`+${text}`);
  return oracle(text, country) ?? (text.startsWith(code) ? oracle(`+${text}`) : undefined);
}

/** Where the library knows a number, it is that number, unless a rule or a repeated code says otherwise. */
function expectAsLibrary(found: PhoneNumber | undefined, expected: ReturnType<typeof oracle>) {
  if (expected === undefined) {
    // Former numbers and repeated codes are read, too; what they become is valid.
    if (found !== undefined && found.isUnverified !== true)
      expect(oracle(`+${found.digits}`)).toEqual({ digits: found.digits, country: found.country });
    return;
  }
  const code = parsePhoneNumberFromString(`+${expected.digits}`)?.countryCallingCode ?? '';
  const national = expected.digits.slice(code.length);
  const forced = presentForm(code, national, 'forced');
  const isRepeated = national.startsWith(code) && !isMobile(`+${expected.digits}`);
  if (forced !== undefined) expect(found?.digits).toBe(forced);
  else if (!isRepeated || found?.digits === expected.digits)
    expect(found && { digits: found.digits, country: found.country }).toEqual(expected);
  else expect(isMobile(`+${found?.digits}`)).toBe(true);
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

interface Vector {
  readonly kind: string;
  readonly spelling: string;
  readonly country: string;
  readonly address: string;
  readonly same_person_as: string;
}

const vectors: readonly Vector[] = parse(readFileSync('test/domain/samples/phone-numbers.csv'), {
  columns: true,
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
        expectAsLibrary(found, oracle(`+${digits}`));
        const plain = normalisePhoneNumber(digits);
        expect(plain).toEqual(found?.isUnverified === true ? undefined : found);
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
        expectAsLibrary(normalisePhoneNumber(digits, country), nationalOracle(digits, country));
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

describe('readNumber', () => {
  it.each(vectors)(
    'reads $spelling with country "$country" as $address ($kind)',
    ({ spelling, country, address }) => {
      const reading = readNumber(spelling, country);
      expect(isPhoneNumber(reading) ? reading.digits : '').toBe(address);
    },
  );

  it.each([
    [
      '9.19877E+11',
      '91',
      'a spreadsheet shortened this number: format the column as text and export it again',
    ],
    ['0171 3920001', '', 'give the country, or write the number with +'],
    ['0171 3920001', 'Atlantis', 'the country "Atlantis" is not known'],
    ['0171 3920001', 'ada@example.com', 'the country is not known'],
    ['9876512660', 'IN 92', '"IN 92" names two countries'],
    [
      '+49 30 2312503 ext. 12',
      '',
      'it has an extension, and a number with an extension is no WhatsApp number',
    ],
    ['120363021234567890@g.us', '', 'it is the id of a group, which is no WhatsApp number'],
    ['184467440737095@lid', '', 'it is a hidden id (LID), which is no WhatsApp number'],
    ['https://wa.me/message/ABC', '', 'it is a link without a number, which is no WhatsApp number'],
    ['https://chat.whatsapp.com/ABC', '', 'it is an invitation to a group, which is no WhatsApp number'],
    ['ada@example.com', '', 'it is an e-mail address, which is no WhatsApp number'],
    ['+1 800 FLOWERS', '', 'it has letters, and a text with letters is no WhatsApp number'],
    ['0171 392', 'DE', 'it is too short: a mobile number of Germany has 10 to 11 digits after +49'],
    ['+4917139200123456', '', 'it is too long: a mobile number of Germany has 10 to 11 digits after +49'],
    ['+1 555 123 4567', '', 'this range of numbers is not in use in United States'],
    ['#N/A', 'DE', 'the cell is empty'],
  ])('says of %s with country "%s": %s', (spelling, country, problem) => {
    expect(readNumber(spelling, country)).toEqual({ problem });
  });

  it.each([
    ['51998876702', 'BR', '5551998876702'],
    ['0171 3920001', 'DE', '491713920001'],
    ['919876512650', 'DE', '919876512650'],
    ['030 23125037', 'DE', '493023125037'],
    ['+33612345678', 'DE', '33612345678'],
  ])('reads %s in a list whose default country is %s as %s', (spelling, defaultCountry, digits) => {
    expect(normalisePhoneNumber(spelling, '', defaultCountry)?.digits).toBe(digits);
  });

  it('prefers the country of a cell to the default', () => {
    expect(normalisePhoneNumber('9876512650', 'IN', 'DE')?.digits).toBe('919876512650');
    expect(normalisePhoneNumber('0171 3920001', '', 'DE')?.digits).toBe('491713920001');
  });

  it('marks numbers whose range is not known yet as unverified', () => {
    expect(normalisePhoneNumber('+9647001234567')).toMatchObject({ country: 'IQ', isUnverified: true });
    expect(normalisePhoneNumber('7001234567', 'Iraq')).toMatchObject({ country: 'IQ', isUnverified: true });
    expect(normalisePhoneNumber('+9647901234567')).not.toHaveProperty('isUnverified');
    // Digits alone do not say whose they are.
    expect(normalisePhoneNumber('9647001234567')).toBeUndefined();
  });

  it.each(['(', '0', '+ 4', 'tel ', '/ 0', ' ::: 1', 'ext ', '=', "'", '9,999', '٤', '[0]', 'e+1', '\u2060'])(
    'refuses a megabyte of %j within a moment',
    (pump) => {
      const cell = pump.repeat(1_000_000 / pump.length);
      expect(readNumber(cell, cell, cell)).toHaveProperty('problem');
      const before = process.cpuUsage();
      for (let at = 0; at < 4_000; at += 1) readNumber(pump.repeat(250 / pump.length), 'DE');
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1_000).toBeLessThan(4_000);
    },
  );
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
