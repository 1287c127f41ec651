import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import metadata from 'libphonenumber-js/metadata.max.json';

/*
 * Numbering plans of libphonenumber-js compiled to regular expressions per country, for numbers that can be decided without
 * the library. Invariant: the library accepts every number that is accepted here, with the same digits. All other numbers go
 * to the library.
 */

interface NumberingPlan {
  readonly callingCode: string;
  /** ISO 3166 alpha-2; '' where a calling code belongs to no country. */
  readonly country: string;
  /** Decides between the countries of a shared calling code. */
  readonly leadingDigits: RegExp | undefined;
  readonly general: RegExp;
  /** A valid national number of one of the plan's types. */
  readonly valid: RegExp;
  /** Valid national number of a mobile phone, or of a kind that cannot be distinguished from one. */
  readonly mobile: RegExp;
  /** Matches the beginning of a national number if the library may remove a prefix from it or add one. */
  readonly prefix: RegExp | undefined;
  /** The trunk prefix if it is a fixed string (`0`). */
  readonly trunk: string | undefined;
  /** The prefix of international numbers dialled in this country. */
  readonly internationalPrefix: RegExp | undefined;
}

// Indexes of the properties in the library's minified plans.
const at = {
  callingCode: 0,
  idd: 1,
  general: 2,
  trunk: 5,
  trunkForParsing: 7,
  leadingDigits: 10,
  types: 11,
} as const;

type MinifiedType = readonly [pattern?: string | 0, lengths?: readonly number[]] | 0;

function compile(country: string, minified: readonly unknown[]): NumberingPlan {
  const text = (place: number): string | undefined => {
    const value = minified[place];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const general = text(at.general) ?? '(?!)';
  const trunk = text(at.trunk);
  const trunkForParsing = text(at.trunkForParsing);
  const leadingDigits = text(at.leadingDigits);
  const idd = text(at.idd);
  const types = (minified[at.types] ?? []) as readonly MinifiedType[];
  const numberOf = (kinds: readonly MinifiedType[]) => {
    const patterns = kinds.flatMap(typePattern);
    return new RegExp(`^(?=(?:${general})$)(?:${patterns.length === 0 ? '(?!)' : patterns.join('|')})$`);
  };
  const [fixedLine = 0, mobile = 0] = types;
  return {
    callingCode: text(at.callingCode) ?? '',
    country,
    leadingDigits: leadingDigits === undefined ? undefined : new RegExp(`^(?:${leadingDigits})`),
    general: new RegExp(`^(?:${general})$`),
    valid: numberOf(types),
    // The library omits a country's mobile pattern if it equals the one for fixed lines.
    mobile: numberOf([typePattern(mobile).length > 0 ? mobile : fixedLine]),
    prefix:
      trunk === undefined && trunkForParsing === undefined
        ? undefined
        : new RegExp(`^(?:${trunkForParsing ?? trunk})`),
    trunk: trunkForParsing === undefined ? trunk : undefined,
    internationalPrefix: idd === undefined ? undefined : new RegExp(`^(?:${idd})`),
  };
}

function typePattern(type: MinifiedType): readonly string[] {
  if (type === 0 || !type[0]) return [];
  const lengths = type[1];
  if (!Array.isArray(lengths)) return [`(?:${type[0]})`];
  return [`(?=(?:${lengths.map((length) => `\\d{${length}}`).join('|')})$)(?:${type[0]})`];
}

const countries = Object.entries(metadata.countries as Readonly<Record<string, readonly unknown[]>>);
const byCountry: ReadonlyMap<string, NumberingPlan> = new Map(
  countries.map(([country, minified]) => [country, compile(country, minified)]),
);
const byCallingCode: ReadonlyMap<string, readonly NumberingPlan[]> = new Map([
  ...Object.entries(metadata.country_calling_codes as Readonly<Record<string, readonly string[]>>).map(
    ([code, names]): [string, readonly NumberingPlan[]] => [
      code,
      names.flatMap((name) => byCountry.get(name) ?? []),
    ],
  ),
  ...Object.entries(metadata.nonGeographic as unknown as Readonly<Record<string, readonly unknown[]>>).map(
    ([code, minified]): [string, readonly NumberingPlan[]] => [code, [compile('', minified)]],
  ),
]);

/** The plan of an ISO country, or the main plan of a calling code. */
function findPlan(countryOrCallingCode: string): NumberingPlan | undefined {
  return byCountry.get(countryOrCallingCode) ?? byCallingCode.get(countryOrCallingCode)?.[0];
}

/** Every plan that shares the calling code, the main one first. */
function plansOf(callingCode: string): readonly NumberingPlan[] {
  return byCallingCode.get(callingCode) ?? [];
}

/** The calling code in front of international digits. No calling code is the beginning of another. */
function callingCodeOf(digits: string): string | undefined {
  for (let length = 1; length <= 3; length += 1) {
    const code = digits.slice(0, length);
    if (byCallingCode.has(code)) return code;
  }
  return undefined;
}

/** Returns the plan of a national number that is certainly valid. */
function planOfNationalNumber(
  plans: readonly NumberingPlan[],
  nationalNumber: string,
): NumberingPlan | undefined {
  const [only] = plans;
  if (plans.length === 1) return only?.valid.test(nationalNumber) === true ? only : undefined;
  for (const plan of plans) {
    if (plan.leadingDigits === undefined) {
      if (plan.valid.test(nationalNumber)) return plan;
    } else if (plan.leadingDigits.test(nationalNumber)) {
      return plan.valid.test(nationalNumber) ? plan : undefined;
    }
  }
  return undefined;
}

export interface PhoneNumber {
  /** E.164 without the plus sign. */
  readonly digits: string;
  /** The calling code with which `digits` begins. */
  readonly countryCode: string;
  readonly nationalNumber: string;
  /** ISO 3166 alpha-2; '' where the calling code belongs to no country. */
  readonly country: string;
}

/**
 * Converts a phone number as people write it to E.164; undefined if it is not valid. `country` (`49`, `+49` or `DE`) applies
 * to numbers that do not begin with `+`; if it is '', they are read as international. Spaces, brackets and punctuation
 * between digits are allowed; extensions and letters make it invalid.
 */
export function normalisePhoneNumber(input: string, country = ''): PhoneNumber | undefined {
  const text = clean(input);
  if (text === '') return undefined;
  if (text.startsWith('+')) return international(text.slice(1));
  if (country.trim() === '') {
    return international(text.startsWith('00') ? text.slice(2) : text);
  }
  const plan = planOf(country);
  return plan === undefined ? undefined : national(text, plan);
}

/** Returns the calling code for `49`, `+49`, `0049` or `DE`; undefined if there is none. */
export function callingCodeFor(countryCode: string): string | undefined {
  return planOf(countryCode)?.callingCode;
}

const plain = /^\+?\d+$/;

// Includes characters that spreadsheets and address books add: an apostrophe, no-break spaces, marks of direction.
const decoration = /[\s\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]+|^'/g;
/** A number that a spreadsheet or a script has written as a decimal, such as `436641234567.0`. */
const decimal = /^(\+?\d{8,})\.0{1,2}$/;
const punctuation = /[-.()/\u2010-\u2015\u2212]/g;

function clean(input: string): string {
  if (plain.test(input)) return input;
  const text = inAscii(input).replace(decoration, '').replace(decimal, '$1');
  const bare = text.replace(punctuation, '');
  return plain.test(bare) ? bare : text;
}

/** Full-width forms and Arabic digits, which keyboards of other scripts write. */
function inAscii(input: string): string {
  if (!/[\u0660-\uFF5E]/.test(input)) return input;
  return input
    .replace(/[\uFF01-\uFF5E]/g, (form) => String.fromCharCode(form.charCodeAt(0) - 0xfee0))
    .replace(/[\u0660-\u0669\u06F0-\u06F9]/g, (digit) => String(digit.charCodeAt(0) & 0xf));
}

function planOf(countryCode: string): NumberingPlan | undefined {
  const text = countryCode.trim();
  return findPlan(/^[a-z]{2}$/i.test(text) ? text.toUpperCase() : text.replace(/^(?:\+|00)/, ''));
}

function international(digits: string): PhoneNumber | undefined {
  const callingCode = callingCodeOf(digits);
  if (callingCode === undefined) return byLibrary(`+${digits}`);
  const plans = plansOf(callingCode);
  return decided(plans[0], callingCode, digits.slice(callingCode.length)) ?? byLibrary(`+${digits}`);
}

function national(text: string, plan: NumberingPlan): PhoneNumber | undefined {
  if (!plain.test(text) || plan.internationalPrefix?.test(text) === true) return byLibrary(text, plan);
  const { callingCode } = plan;
  const withoutCode = text.startsWith(callingCode) ? text.slice(callingCode.length) : undefined;
  // Some lists repeat the calling code in the number, which may then look like a fixed line in that country (4915112345678
  // with 49). Such lists mean the mobile number.
  if (withoutCode !== undefined && isMobile(plan, withoutCode) && !isMobile(plan, text)) {
    return international(text);
  }
  const found = decided(plan, callingCode, text) ?? withoutTrunk(text, plan) ?? byLibrary(text, plan);
  return found === undefined && withoutCode !== undefined ? international(text) : found;
}

function isMobile(plan: NumberingPlan, nationalNumber: string): boolean {
  return plansOf(plan.callingCode).some(({ mobile }) => mobile.test(nationalNumber));
}

function withoutTrunk(text: string, plan: NumberingPlan): PhoneNumber | undefined {
  const { trunk, callingCode } = plan;
  if (trunk === undefined || !text.startsWith(trunk) || text.startsWith(callingCode)) return undefined;
  return plan.general.test(text) ? undefined : decided(plan, callingCode, text.slice(trunk.length));
}

// Decides only numbers that the library would not change.
function decided(
  plan: NumberingPlan | undefined,
  callingCode: string,
  nationalNumber: string,
): PhoneNumber | undefined {
  if (plan === undefined) return undefined;
  if (plan.prefix !== undefined && (plan.prefix.exec(nationalNumber)?.[0] ?? '') !== '') return undefined;
  const plans = plansOf(callingCode);
  // With one plan the general pattern is skipped, because it matches every valid number and takes long to test.
  if (plans.length > 1 && !plan.general.test(nationalNumber)) return undefined;
  const found = planOfNationalNumber(plans, nationalNumber);
  if (found === undefined) return undefined;
  return {
    digits: callingCode + nationalNumber,
    countryCode: callingCode,
    nationalNumber,
    country: found.country,
  };
}

function byLibrary(text: string, plan?: NumberingPlan): PhoneNumber | undefined {
  const context = plan?.country
    ? { defaultCountry: plan.country as CountryCode }
    : { defaultCallingCode: plan?.callingCode ?? '' };
  const parsed = parsePhoneNumberFromString(text, { ...(plan !== undefined && context), extract: false });
  if (parsed === undefined || parsed.ext !== undefined || !parsed.isValid()) return undefined;
  const countryCode: string = parsed.countryCallingCode;
  const nationalNumber: string = parsed.nationalNumber;
  const digits = countryCode + nationalNumber;
  if (digits.length > 15) return undefined;
  return { digits, countryCode, nationalNumber, country: parsed.country ?? '' };
}
