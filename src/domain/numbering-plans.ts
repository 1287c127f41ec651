/**
 * Numbering plans of libphonenumber-js compiled to regular expressions per country: they decide as the library does, at a tenth
 * of its cost.
 */
import metadata from 'libphonenumber-js/metadata.max.json';

export interface NumberingPlan {
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
  /** The library's pattern of mobile numbers. */
  readonly mobileSource: string;
  /** Digits of a mobile number, ascending. */
  readonly mobileLengths: readonly number[];
  /** Digits of any national number, ascending. */
  readonly lengths: readonly number[];
  /** Matches the beginning of a national number if a prefix may have to be removed from it or added. */
  readonly prefix: RegExp | undefined;
  /** The replacement of the groups of `prefix`. */
  readonly prefixBecomes: string | undefined;
  /** The prefix of international numbers dialled in this country. */
  readonly internationalPrefix: RegExp | undefined;
}

// Indexes of the properties in the library's minified plans.
const index = {
  callingCode: 0,
  idd: 1,
  general: 2,
  lengths: 3,
  trunk: 5,
  trunkForParsing: 7,
  trunkBecomes: 8,
  leadingDigits: 10,
  types: 11,
} as const;

type MinifiedType = readonly [pattern?: string | 0, lengths?: readonly number[]] | 0;

function compile(country: string, minified: readonly unknown[]): NumberingPlan {
  const text = (place: number): string | undefined => {
    const value = minified[place];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const general = text(index.general) ?? '(?!)';
  const trunkForParsing = text(index.trunkForParsing) ?? text(index.trunk);
  const leadingDigits = text(index.leadingDigits);
  const idd = text(index.idd);
  const types = (minified[index.types] ?? []) as readonly MinifiedType[];
  const lengths = (minified[index.lengths] ?? []) as readonly number[];
  const numberOf = (kinds: readonly MinifiedType[]) => {
    const patterns = kinds.flatMap(typePattern);
    return new RegExp(`^(?=(?:${general})$)(?:${patterns.length === 0 ? '(?!)' : patterns.join('|')})$`);
  };
  const [fixedLine = 0, ownMobile = 0] = types;
  // The library omits a country's mobile pattern if it equals the one for fixed lines.
  const mobile = typePattern(ownMobile).length > 0 ? ownMobile : fixedLine;
  return {
    callingCode: text(index.callingCode) ?? '',
    country,
    leadingDigits: leadingDigits === undefined ? undefined : new RegExp(`^(?:${leadingDigits})`),
    general: new RegExp(`^(?:${general})$`),
    valid: numberOf(types),
    mobile: numberOf([mobile]),
    mobileSource: mobile === 0 || !mobile[0] ? '' : mobile[0],
    mobileLengths: mobile === 0 || !Array.isArray(mobile[1]) ? lengths : mobile[1],
    lengths,
    prefix: trunkForParsing === undefined ? undefined : new RegExp(`^(?:${trunkForParsing})`),
    prefixBecomes: text(index.trunkBecomes),
    internationalPrefix: idd === undefined ? undefined : new RegExp(`^(?:${idd})`),
  };
}

function typePattern(type: MinifiedType): readonly string[] {
  if (type === 0 || !type[0]) return [];
  const lengths = type[1];
  if (!Array.isArray(lengths)) return [`(?:${type[0]})`];
  return [`(?=(?:${lengths.map((length) => `\\d{${length}}`).join('|')})$)(?:${type[0]})`];
}

const byCountry: ReadonlyMap<string, NumberingPlan> = new Map(
  Object.entries(metadata.countries as Readonly<Record<string, readonly unknown[]>>).map(
    ([country, minified]) => [country, compile(country, minified)],
  ),
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

/** ISO 3166 alpha-2 codes of all countries that have a numbering plan. */
export const planCountries: readonly string[] = [...byCountry.keys()];

/** The plan of an ISO country. */
export const planOfCountry = (country: string): NumberingPlan | undefined => byCountry.get(country);

/** Every plan that shares the calling code, the main one first; none if it is no calling code. */
export const plansOf = (callingCode: string): readonly NumberingPlan[] =>
  byCallingCode.get(callingCode) ?? [];

/** The calling code in front of international digits. No calling code is the beginning of another. */
export function callingCodeOf(digits: string): string | undefined {
  for (let length = 1; length <= 3; length += 1) {
    const code = digits.slice(0, length);
    if (byCallingCode.has(code)) return code;
  }
  return undefined;
}

/** Returns the plan of a national number that is valid as it stands. */
export function planOfNationalNumber(
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

/** True if the digits are a mobile number in one of the countries that share the plan's calling code. */
export function isMobile({ callingCode }: NumberingPlan, nationalNumber: string): boolean {
  return plansOf(callingCode).some(({ mobile }) => mobile.test(nationalNumber));
}

/**
 * Removes a trunk prefix and a carrier's code, or adds what the plan says belongs there. Returns the digits unchanged if there
 * is none, or if what remains could not be a number.
 */
export function withoutPrefix(plan: NumberingPlan, nationalNumber: string): string {
  const { prefix, prefixBecomes } = plan;
  const match = prefix?.exec(nationalNumber);
  if (prefix === undefined || match == null) return nationalNumber;
  const isTransformed = prefixBecomes !== undefined && match.length > 1 && Boolean(match.at(-1));
  const rest = isTransformed
    ? nationalNumber.replace(prefix, prefixBecomes)
    : nationalNumber.slice(match[0].length);
  if (rest === nationalNumber) return rest;
  if (plan.general.test(nationalNumber) && !plan.general.test(rest)) return nationalNumber;
  const plans = plansOf(plan.callingCode);
  const { lengths } = (plans.length === 1 ? plan : planOfNationalNumber(plans, rest)) ?? plan;
  const isPossible = rest.length > (lengths.at(-1) ?? 0) || lengths.includes(rest.length);
  return isPossible ? rest : nationalNumber;
}

const firstDigits = new Map<NumberingPlan, string>();

/** The digits with which the plan's mobile numbers begin: `15` for German ones, as a set without order. */
export function firstMobileDigits(plan: NumberingPlan): string {
  const known = firstDigits.get(plan);
  if (known !== undefined) return known;
  const found = [...new Set(firstOf(plan.mobileSource, { at: 0 }).digits)].toSorted().join('');
  firstDigits.set(plan, found);
  return found;
}

/** The digits with which matches of a pattern may begin; the pattern has digits, sets, groups and quantifiers only. */
function firstOf(
  pattern: string,
  place: { at: number },
): { readonly digits: string; readonly isOptional: boolean } {
  let digits = '';
  let isOptional = false;
  // Whether everything read so far of this alternative may be left out.
  let isOpen = true;
  while (place.at < pattern.length && pattern[place.at] !== ')') {
    if (pattern[place.at] === '|') {
      place.at += 1;
      isOptional ||= isOpen;
      isOpen = true;
      continue;
    }
    const part = partOf(pattern, place);
    if (isOpen) digits += part.digits;
    isOpen &&= part.isOptional;
  }
  return { digits, isOptional: isOptional || isOpen };
}

function partOf(pattern: string, place: { at: number }): ReturnType<typeof firstOf> {
  const begin = place.at;
  let part = { digits: pattern.charAt(begin), isOptional: false };
  place.at += 1;
  if (pattern.startsWith('\\d', begin)) {
    place.at += 1;
    part = { digits: '0123456789', isOptional: false };
  } else if (pattern[begin] === '[') {
    place.at = pattern.indexOf(']', begin) + 1;
    const set = pattern.slice(begin, place.at).replaceAll('\\d', '0-9');
    part = { digits: [...'0123456789'].filter((digit) => isIn(set, digit)).join(''), isOptional: false };
  } else if (pattern[begin] === '(') {
    place.at += pattern.startsWith('(?:', begin) ? 2 : 0;
    part = firstOf(pattern, place);
    place.at += 1;
  }
  if (pattern[place.at] === '?') {
    place.at += 1;
    return { ...part, isOptional: true };
  }
  if (pattern[place.at] === '{') {
    const end = pattern.indexOf('}', place.at);
    const isOptional = part.isOptional || pattern.startsWith('{0', place.at);
    place.at = end + 1;
    return { ...part, isOptional };
  }
  return part;
}

/** Whether a set such as `[1-35]` has the digit. */
function isIn(set: string, digit: string): boolean {
  for (let at = 1; at < set.length - 1; at += 1) {
    const isRange = set[at + 1] === '-';
    const last = isRange ? set.charAt(at + 2) : set.charAt(at);
    if (digit >= set.charAt(at) && digit <= last) return true;
    if (isRange) at += 2;
  }
  return false;
}
