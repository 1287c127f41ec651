/**
 * Numbering plans of libphonenumber-js compiled to regular expressions per country, for numbers that can be decided without
 * the library. Invariant: the library accepts every number accepted here, with the same digits. All other numbers go to it.
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
  /** Matches a national number's beginning from which the library may remove a prefix, or to which it may add one. */
  readonly prefix: RegExp | undefined;
  /** Trunk prefix if it is a fixed string (`0`), else undefined. */
  readonly trunk: string | undefined;
  /** How an international number begins when dialled in this country. */
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
    // The library omits the mobile pattern of a country where it equals the fixed line's.
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
export function findPlan(countryOrCallingCode: string): NumberingPlan | undefined {
  return byCountry.get(countryOrCallingCode) ?? byCallingCode.get(countryOrCallingCode)?.[0];
}

/** Every plan that shares the calling code, the main one first. */
export function plansOf(callingCode: string): readonly NumberingPlan[] {
  return byCallingCode.get(callingCode) ?? [];
}

/** The calling code in front of international digits. No calling code is the beginning of another. */
export function callingCodeOf(digits: string): string | undefined {
  for (let length = 1; length <= 3; length += 1) {
    const code = digits.slice(0, length);
    if (byCallingCode.has(code)) return code;
  }
  return undefined;
}

/** The plan that a national number belongs to when it is valid beyond doubt. */
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
