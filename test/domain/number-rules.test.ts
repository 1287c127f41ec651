import fc from 'fast-check';
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { describe, expect, it } from 'vitest';
import { formsOf, identityOf, numberRules, prefixForms } from '../../src/domain/number-rules.ts';
import { normalisePhoneNumber } from '../../src/domain/phone-number.ts';

const isValid = (digits: string): boolean =>
  parsePhoneNumberFromString(`+${digits}`, { extract: false })?.isValid() === true;

/** Their rules name no area codes, most of which are not in use. */
const hasOpenAreas = new Set(['52', '54', '55']);

describe.each(numberRules.map((rule) => ({ name: `+${rule.callingCode} ${rule.former.source}`, rule })))(
  'the rule $name',
  ({ rule }) => {
    const { callingCode, former, present, identityOnly } = rule;
    const formers = fc.stringMatching(former).map((national) => callingCode + national);
    const presentOf = (digits: string) => digits.slice(callingCode.length).replace(former, present);

    it('leads to numbers that are valid today', () => {
      const samples = fc.sample(formers, 500).map(presentOf);
      const valid = samples.filter(isValid).length;
      if (hasOpenAreas.has(callingCode)) expect(valid).toBeGreaterThan(0);
      else expect(valid).toBe(samples.length);
    });

    it('ends at an identity that no rule changes, and that has the former number among its forms', () => {
      fc.assert(
        fc.property(formers, (digits) => {
          const identity = identityOf(digits);
          expect(identity).toBe(presentOf(digits));
          expect(identityOf(identity)).toBe(identity);
          const forms = formsOf(identity);
          expect(forms[0]).toBe(identity);
          expect(forms).toContain(digits);
          expect(formsOf(digits)).toEqual(forms);
          expect(new Set(forms).size).toBe(forms.length);
          expect(forms.length).toBeLessThanOrEqual(3);
          for (const form of forms) expect(identityOf(form)).toBe(identity);
        }),
      );
    });

    it('agrees with what is read: the number becomes the identity, or stays in use beside it', () => {
      fc.assert(
        fc.property(formers, (digits) => {
          const read = normalisePhoneNumber(`+${digits}`)?.digits;
          if (read === undefined) return;
          expect(identityOf(read)).toBe(identityOf(digits));
          if (identityOnly !== true && isValid(identityOf(digits))) expect(read).toBe(identityOf(digits));
        }),
      );
    });
  },
);

it.each(
  numberRules
    .filter(({ forced, identityOnly }) => forced !== true && identityOnly !== true)
    .map(({ callingCode, former }) => ({ callingCode, former })),
)('no number of +$callingCode that is replaced is valid today: $former', ({ callingCode, former }) => {
  const formers = fc.stringMatching(former).map((national) => callingCode + national);
  fc.assert(fc.property(formers, (digits) => !isValid(digits)));
});

describe('identityOf', () => {
  it('leaves every other number as it is', () => {
    const digits = fc.stringMatching(/^[1-9]\d{4,14}$/);
    const isFormer = (one: string) =>
      numberRules.some(
        ({ callingCode, former }) =>
          one.startsWith(callingCode) && former.test(one.slice(callingCode.length)),
      );
    fc.assert(
      fc.property(digits, (one) => {
        if (!isFormer(one)) expect(identityOf(one)).toBe(one);
        expect(identityOf(identityOf(one))).toBe(identityOf(one));
        expect(formsOf(one)).toContain(one);
      }),
    );
  });

  it('is the same for the two codes of a Palestinian mobile and for both forms of an Argentine one', () => {
    expect(identityOf('972599123456')).toBe(identityOf('970599123456'));
    expect(identityOf('5491123456789')).toBe(identityOf('541123456789'));
    expect(identityOf('972521234567')).toBe('972521234567');
  });

  it('leaves landlines of Brazil and Slovenian mobiles alone', () => {
    expect(formsOf('551133334444')).toEqual(['551133334444']);
    expect(formsOf('38643123456')).toEqual(['38643123456']);
  });
});

describe('prefixForms', () => {
  it.each([
    ['549351', '54351'],
    ['54351456', '549351456'],
    ['5213312', '523312'],
    ['55118765', '551198765'],
  ])('of %s contains %s', (digits, other) => {
    expect(prefixForms(digits)).toContain(other);
  });

  it('is empty for numbers with one form, and for a few digits', () => {
    expect(prefixForms('4915112')).toEqual([]);
    expect(prefixForms('54935')).toEqual([]);
  });

  it('gives the beginning of every form of a number', () => {
    const former = fc
      .constantFrom(...numberRules)
      .chain(({ callingCode, former: pattern }) =>
        fc.stringMatching(pattern).map((national) => callingCode + national),
      );
    fc.assert(
      fc.property(former, (digits) => {
        const others = formsOf(digits).filter((form) => form !== digits);
        for (const other of others)
          expect(prefixForms(digits).some((prefix) => other.startsWith(prefix))).toBe(true);
      }),
    );
  });
});
