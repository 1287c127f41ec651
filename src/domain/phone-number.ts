import { parsePhoneNumberFromString, type CountryCode } from 'libphonenumber-js/max';
import {
  callingCodeOf,
  findPlan,
  planOfNationalNumber,
  plansOf,
  type NumberingPlan,
} from './numbering-plan.ts';

export interface PhoneNumber {
  /** E.164 without the plus sign. */
  readonly digits: string;
  /** The calling code: the front of `digits`. */
  readonly countryCode: string;
  readonly nationalNumber: string;
  /** ISO 3166 alpha-2; '' where the calling code belongs to no country. */
  readonly country: string;
}

/**
 * Converts a phone number as people write it to E.164; undefined if it is not valid. `country` (`49`, `+49` or `DE`) applies to
 * numbers that do not begin with `+`; if it is '', they are read as international.
 * Spaces, brackets and marks may stand between the digits; extensions and letters make it invalid.
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

/** The calling code that `49`, `+49`, `0049` or `DE` stands for; undefined when there is none. */
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
  // Some lists repeat the calling code in the number, which may then look like a fixed line of the country itself
  // (4915112345678 with 49). A mobile number is what such a list means.
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

// Decides only numbers in which the library would change nothing.
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
