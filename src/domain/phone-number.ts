/** Reads phone numbers in every spelling, and says of the others what is wrong with them. */
import { type CellCountry, readCountry } from './country-cell.ts';
import { presentForm } from './number-rules.ts';
import {
  beforeRepeatedEnd,
  partsOf,
  readSpelling,
  sentences,
  textOfCell,
  type WrittenNumber,
} from './number-spelling.ts';
import {
  callingCodeOf,
  firstMobileDigits,
  isMobile,
  type NumberingPlan,
  planOfNationalNumber,
  plansOf,
  withoutPrefix,
} from './numbering-plans.ts';

export interface PhoneNumber {
  /** E.164 without the plus sign. */
  readonly digits: string;
  /** The calling code with which `digits` begins. */
  readonly countryCode: string;
  readonly nationalNumber: string;
  /** ISO 3166 alpha-2; '' where the calling code belongs to no country. */
  readonly country: string;
  /** It has the form of a mobile number, but its range is not known to be in use. */
  readonly isUnverified?: true;
}

export interface RefusedNumber {
  /** A sentence that says what is wrong and what to do. */
  readonly problem: string;
}

export type NumberReading = PhoneNumber | RefusedNumber;

export const isPhoneNumber = (reading: NumberReading): reading is PhoneNumber => 'digits' in reading;

/**
 * Reads a number in any spelling. Its own plus sign or link decides, then `country` (a calling code, an ISO code or a name, as
 * a cell of a list has it), then `defaultCountry`, of whose mobile numbers the calling code may be left out; otherwise digits
 * are international. Linear in the text.
 */
export function readNumber(spelling: string, country = '', defaultCountry = ''): NumberReading {
  const context = contextOf(country, defaultCountry);
  if (plain.test(spelling)) return readWritten({ digits: spelling }, context);
  const text = textOfCell(spelling);
  if (text === '') return { problem: sentences.empty };
  const reading = readText(text, context);
  return 'problem' in reading ? { problem: reading.problem } : reading;
}

/** As `readNumber`; undefined if there is no number. */
export function normalisePhoneNumber(
  spelling: string,
  country = '',
  defaultCountry = '',
): PhoneNumber | undefined {
  const reading = readNumber(spelling, country, defaultCountry);
  return isPhoneNumber(reading) ? reading : undefined;
}

/** Returns the calling code of a country in any spelling (`49`, `+49`, `DE`, `Germany`); undefined if there is none. */
export function callingCodeFor(country: string): string | undefined {
  const reading = readCountry(country);
  return reading.kind === 'country' ? reading.plan?.callingCode : undefined;
}

/** Whether the number is a mobile phone's, or of a kind that cannot be distinguished from one. */
export function isMobileNumber({ countryCode, nationalNumber, isUnverified }: PhoneNumber): boolean {
  return isUnverified === true || plansOf(countryCode).some(({ mobile }) => mobile.test(nationalNumber));
}

interface Context {
  readonly country: CellCountry | undefined;
  readonly fallback: NumberingPlan | undefined;
  /** What is wrong with the country. */
  readonly problem: string | undefined;
}

const noContext: Context = { country: undefined, fallback: undefined, problem: undefined };

function contextOf(country: string, defaultCountry: string): Context {
  if (country === '' && defaultCountry === '') return noContext;
  const reading = readCountry(country);
  const byDefault = defaultCountry === '' ? undefined : readCountry(defaultCountry);
  const fallback = byDefault?.kind === 'country' ? byDefault.plan : undefined;
  if (reading.kind === 'none') return { country: undefined, fallback, problem: undefined };
  if (reading.kind === 'country') return { country: reading, fallback: undefined, problem: undefined };
  // A column that is taken for the country's by mistake may hold numbers of people, whom an erasure would not find here.
  const isPersonal = country.includes('@') || country.replaceAll(/\D/g, '').length >= leastPersonalDigits;
  const named = isPersonal ? undefined : `"${country.trim().slice(0, longestNamed).toWellFormed()}"`;
  const problem =
    reading.kind === 'unknown'
      ? `the country${named === undefined ? '' : ` ${named}`} is not known`
      : `${named ?? 'the country'} names two countries`;
  return { country: undefined, fallback: undefined, problem };
}

const longestNamed = 40;
const leastPersonalDigits = 5;

const plain = /^\+?\d+$/;
/** E.164 digits, a calling code twice, prefixes and an exit code. */
const maxDigits = 25;

function readText(text: string, context: Context): NumberReading {
  const beforeEnd = beforeRepeatedEnd(text);
  if (beforeEnd !== undefined) {
    const reading = readOne(beforeEnd, context);
    if (isVerified(reading)) return reading;
  }
  const spelling = readSpelling(text);
  const whole = 'problem' in spelling ? spelling : readWritten(spelling, context);
  const parts = 'isWhole' in spelling ? undefined : partsOf(text);
  if (parts === undefined || isVerified(whole)) return whole;
  let first: PhoneNumber | undefined;
  let refused: RefusedNumber | undefined;
  for (const part of parts) {
    const reading = readOne(part, context);
    if (!isPhoneNumber(reading)) refused ??= reading;
    else if (isMobileNumber(reading)) return reading;
    else first ??= reading;
  }
  return first ?? ('digits' in spelling ? refused : undefined) ?? whole;
}

function readOne(text: string, context: Context): NumberReading {
  const spelling = readSpelling(text);
  return 'problem' in spelling ? spelling : readWritten(spelling, context);
}

const isVerified = (reading: NumberReading): boolean =>
  isPhoneNumber(reading) && reading.isUnverified !== true;

function readWritten(
  { digits, withoutZero, isInternational, country }: WrittenNumber,
  given: Context,
): NumberReading {
  const context = country === undefined ? given : contextOf(country, '');
  const text = isInternational === true && !digits.startsWith('+') ? `+${digits}` : digits;
  if (text.length > maxDigits) return { problem: 'it is too long: a phone number has at most 15 digits' };
  const candidates = withoutZero === undefined ? [text] : [text, withoutZero];
  for (const candidate of candidates) {
    const found = valid(candidate, context, isInternational === true);
    if (found !== undefined) return found;
  }
  for (const candidate of candidates) {
    const found = possible(candidate, context);
    if (found !== undefined) return found;
  }
  return { problem: refusalOf(text, context) };
}

function valid(
  text: string,
  { country, fallback, problem }: Context,
  isLink: boolean,
): PhoneNumber | undefined {
  const plan = country?.plan ?? fallback;
  if (text.startsWith('+')) {
    const digits = text.slice(1);
    const found = international(digits);
    // No calling code begins so: the plus is a slip, and the country decides.
    const isSlip = isLink || digits.startsWith('0') || callingCodeOf(digits) === undefined;
    return found ?? (isSlip && plan !== undefined ? national(digits, plan, country?.completes) : undefined);
  }
  if (problem !== undefined) return undefined;
  if (country !== undefined)
    return plan === undefined
      ? international(country.completes + text)
      : national(text, plan, country.completes);
  if (plan === undefined) return international(text.startsWith('00') ? text.slice(2) : text);
  const local = national(text, plan);
  if (local !== undefined && isMobileNumber(local)) return local;
  // No calling code begins with a zero, so such digits are a fixed line of the country.
  return international(text) ?? (text.startsWith('0') ? local : undefined);
}

function international(digits: string): PhoneNumber | undefined {
  const code = callingCodeOf(digits);
  if (code === undefined) return digits.startsWith('00') ? international(digits.slice(2)) : undefined;
  const [plan] = plansOf(code);
  const rest = digits.slice(code.length);
  return plan === undefined
    ? undefined
    : (asWritten(plan, rest) ?? inFormerForm(plan, rest) ?? afterCode(plan, rest));
}

function national(text: string, plan: NumberingPlan, completes = ''): PhoneNumber | undefined {
  const { callingCode } = plan;
  const hasCode = text.startsWith(callingCode);
  // Some lists repeat the calling code in the number, which may then look like a fixed line in that country (4915112345678
  // with 49). Such lists mean the mobile number.
  if (hasCode && isMobile(plan, text.slice(callingCode.length)) && !isMobile(plan, text))
    return international(text);
  const exit = plan.internationalPrefix?.exec(text)?.[0];
  const dialled = exit === undefined ? '0' : text.slice(exit.length);
  return (
    (dialled.startsWith('0') ? undefined : international(dialled)) ??
    asWritten(plan, text) ??
    inFormerForm(plan, text) ??
    (hasCode ? international(text) : undefined) ??
    (text.startsWith(`0${callingCode}`) ? international(text.slice(1)) : undefined) ??
    (text.startsWith('00') ? international(text.slice(2)) : undefined) ??
    (completes === '' ? undefined : asWritten(plan, completes + text))
  );
}

/** The national number as it is or without its trunk prefix, unless a mobile number stands behind a second calling code. */
function asWritten(plan: NumberingPlan, text: string): PhoneNumber | undefined {
  const found = ofPlan(plan, withoutPrefix(plan, text));
  if (found === undefined) return undefined;
  if (text.startsWith(plan.callingCode) && !isMobile(plan, found.nationalNumber)) {
    const repeated = ofPlan(plan, withoutPrefix(plan, text.slice(plan.callingCode.length)));
    if (repeated !== undefined && isMobile(plan, repeated.nationalNumber)) return repeated;
  }
  const forced = presentForm(plan.callingCode, found.nationalNumber, 'forced');
  return (forced === undefined ? undefined : ofDigits(forced)) ?? found;
}

function inFormerForm(plan: NumberingPlan, text: string): PhoneNumber | undefined {
  const { callingCode } = plan;
  const bare = withoutPrefix(plan, text);
  for (const form of bare === text ? [text] : [text, bare]) {
    const present = presentForm(callingCode, form);
    const found = present === undefined ? undefined : ofDigits(present);
    if (found !== undefined) return found;
  }
  // Prefixes that the library's plans do not know.
  if (callingCode === '52') return ofPlan(plan, text.replace(/^(?:01|04[45]|1)(?=\d{10}$)/, ''));
  if (callingCode === '54') return withoutFifteen(plan, bare);
  return undefined;
}

/** Argentina: 9 in front and 15 behind the area say the same; 9 stays. */
function withoutFifteen(plan: NumberingPlan, text: string): PhoneNumber | undefined {
  if (!/^9\d{12}$/.test(text)) return undefined;
  for (const area of [2, 3, 4]) {
    if (text.slice(1 + area, 3 + area) !== '15') continue;
    const found = ofPlan(plan, text.slice(0, 1 + area) + text.slice(3 + area));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The number behind a second calling code: `+91 91 98765 43210`, `+49 0049 171…`. */
function afterCode(plan: NumberingPlan, text: string): PhoneNumber | undefined {
  const rest = text.replace(/^00?/, '');
  if (!rest.startsWith(plan.callingCode)) return undefined;
  const behind = rest.slice(plan.callingCode.length);
  return ofPlan(plan, withoutPrefix(plan, behind)) ?? inFormerForm(plan, behind);
}

function ofDigits(digits: string): PhoneNumber | undefined {
  const code = callingCodeOf(digits);
  const [plan] = code === undefined ? [] : plansOf(code);
  return plan === undefined ? undefined : ofPlan(plan, digits.slice(plan.callingCode.length));
}

function ofPlan(plan: NumberingPlan, nationalNumber: string): PhoneNumber | undefined {
  const { callingCode } = plan;
  const found = planOfNationalNumber(plansOf(callingCode), nationalNumber);
  const digits = callingCode + nationalNumber;
  if (found === undefined || digits.length > maxE164Digits) return undefined;
  return { digits, countryCode: callingCode, nationalNumber, country: found.country };
}

const maxE164Digits = 15;

/**
 * A number that may be in use although its range is not known yet: it names its country, and has the length and the first digit
 * of a mobile number there. Never for +1, whose mobile numbers look like all others.
 */
function possible(text: string, { country, problem }: Context): PhoneNumber | undefined {
  const isInternational = /^\+|^00/.test(text);
  if (!isInternational && (problem !== undefined || country?.plan === undefined)) return undefined;
  const digits = text.replace(/^\+?(?:00)?/, '');
  const code = isInternational ? callingCodeOf(digits) : country?.plan?.callingCode;
  if (code === undefined || code === '1') return undefined;
  const plans = plansOf(code);
  const given = isInternational ? digits.slice(code.length) : text;
  const own = isInternational ? undefined : country?.plan;
  const plan = own ?? plans.find(({ leadingDigits }) => leadingDigits?.test(given) === true) ?? plans[0];
  if (plan === undefined || plan.country === '') return undefined;
  for (const nationalNumber of new Set([given, withoutPrefix(plan, given), given.replace(/^0/, '')])) {
    const hasForm =
      plan.mobileLengths.includes(nationalNumber.length) &&
      firstMobileDigits(plan).includes(nationalNumber.charAt(0)) &&
      code.length + nationalNumber.length <= maxE164Digits;
    if (hasForm)
      return {
        digits: code + nationalNumber,
        countryCode: code,
        nationalNumber,
        country: plan.country,
        isUnverified: true,
      };
  }
  return undefined;
}

function refusalOf(text: string, { country, fallback, problem }: Context): string {
  const isInternational = /^\+|^00/.test(text);
  if (!isInternational && problem !== undefined) return problem;
  const digits = text.replace(/^\+?(?:00)?/, '');
  const code = isInternational ? callingCodeOf(digits) : undefined;
  const plan = code === undefined ? (country?.plan ?? fallback) : plansOf(code)[0];
  if (plan === undefined || plan.country === '') return 'give the country, or write the number with +';
  const { callingCode } = plan;
  const rest = isInternational ? digits.slice(callingCode.length) : text;
  const length = withoutPrefix(plan, rest).length;
  const [least = 0] = plan.mobileLengths;
  const most = plan.mobileLengths.at(-1) ?? 0;
  const name = countryName(plan.country);
  const lengths = least === most ? `${most}` : `${least} to ${most}`;
  const rule = `a mobile number of ${name} has ${lengths} digits after +${callingCode}`;
  if (length < least) return `it is too short: ${rule}`;
  return length > most ? `it is too long: ${rule}` : `this range of numbers is not in use in ${name}`;
}

let names: Intl.DisplayNames | undefined;

/** The English name of an ISO 3166 alpha-2 code. */
export function countryName(country: string): string {
  names ??= new Intl.DisplayNames(['en'], { type: 'region' });
  return names.of(country) ?? country;
}
