/**
 * What became of numbers whose plan has changed, and who is one person under two numbers. Each row is backed by the authority
 * that it names; a number that is valid today is rewritten only by a `forced` row.
 */

export interface NumberRule {
  readonly callingCode: string;
  /** The national digits that the rule replaces. */
  readonly former: RegExp;
  /** The international digits in their place. */
  readonly present: string;
  /** Finds numbers that may have had a former form, and those forms. */
  readonly back: readonly [present: RegExp, ...formers: readonly string[]];
  /** ISO date from which the present form is dialled. */
  readonly since: string;
  readonly authority: string;
  /** The library still calls the former form valid. */
  readonly forced?: true;
  /** Both forms are valid: the number stays as it is, and the rule only decides whose it is. */
  readonly identityOnly?: true;
}

type Origin = Pick<NumberRule, 'since' | 'authority'>;

const ivoryCoast: Origin = { since: '2021-01-31', authority: 'ARTCI; ITU E.129 of 2021-01-31' };
const cameroon: Origin = { since: '2014-11-21', authority: 'ART; ITU Operational Bulletin 1063' };
const gabon: Origin = { since: '2019-11-15', authority: 'ARCEP; former form off since 2024-04-06' };
const vietnam: Origin = { since: '2018-09-15', authority: 'MIC, plan of 2018; tables of the operators' };
const kosovo: Origin = { since: '2019-02-14', authority: 'ARKEP; ITU code 383' };

const rowOfIvoryCoast = (prefix: string, digits: string): NumberRule => ({
  callingCode: '225',
  former: new RegExp(`^(${digits})$`),
  present: `225${prefix}$1`,
  back: [new RegExp(`^225${prefix}(${digits})$`), '225$1'],
  ...ivoryCoast,
});

const rowOfVietnam = (former: string, present: string): NumberRule => ({
  callingCode: '84',
  former: new RegExp(`^${former}(\\d{7})$`),
  present: `84${present}$1`,
  back: [new RegExp(`^84${present}(\\d{7})$`), `84${former}$1`],
  ...vietnam,
});

const vietnamese =
  '120:70 121:79 122:77 126:76 128:78 123:83 124:84 125:85 127:81 129:82 162:32 163:33 164:34 165:35 166:36 167:37 168:38 169:39 186:56 188:58 199:59';

export const numberRules: readonly NumberRule[] = [
  {
    callingCode: '52',
    former: /^1(\d{10})$/,
    present: '52$1',
    back: [/^52(\d{10})$/, '521$1'],
    since: '2019-08-03',
    authority: 'IFT, plan of 2018-05-11; former form off since 2020-08-03',
  },
  {
    callingCode: '55',
    former: /^([1-9]\d)([689]\d{7})$/,
    present: '55$19$2',
    back: [/^55([1-9]\d)9([689]\d{7})$/, '55$1$2'],
    since: '2016-11-06',
    authority: 'Anatel, Resolution 553/2010 and Ato 6.305/2012',
  },
  {
    callingCode: '54',
    former: /^9(\d{10})$/,
    present: '54$1',
    back: [/^54(\d{10})$/, '549$1'],
    since: '1999-01-24',
    authority: 'PFNN 1997: ten digits for fixed and mobile lines; 9 and 15 are dialling prefixes',
    identityOnly: true,
  },
  rowOfIvoryCoast('01', '(?:0[1-3]|4[0-3]|5[0-3]|7[0-3])\\d{6}'),
  rowOfIvoryCoast('05', '(?:0[4-6]|4[4-6]|5[4-6]|6[4-6]|7[4-6]|8[4-6]|9[4-6])\\d{6}'),
  rowOfIvoryCoast('07', '(?:0[7-9]|4[7-9]|5[7-9]|6[7-9]|7[7-9]|8[7-9]|9[78])\\d{6}'),
  rowOfIvoryCoast('21', '2[0-3]8\\d{5}'),
  rowOfIvoryCoast('25', '(?:2[0-4]|3[0-6])0\\d{5}'),
  rowOfIvoryCoast('27', '(?:20[23]|21[2357]|22[45]|23[45]|24[3-5]|306|31[69]|3[23]7|347)\\d{5}'),
  {
    callingCode: '229',
    former: /^([24569]\d{7})$/,
    present: '22901$1',
    back: [/^22901([24569]\d{7})$/, '229$1'],
    since: '2024-11-30',
    authority: 'ARCEP Benin',
  },
  {
    callingCode: '237',
    former: /^([579]\d{7})$/,
    present: '2376$1',
    back: [/^2376([579]\d{7})$/, '237$1'],
    ...cameroon,
  },
  {
    callingCode: '237',
    former: /^((?:22|33)\d{6})$/,
    present: '2372$1',
    back: [/^2372((?:22|33)\d{6})$/, '237$1'],
    ...cameroon,
  },
  {
    callingCode: '241',
    former: /^0?([256]\d{6})$/,
    present: '2416$1',
    back: [/^2416([256]\d{6})$/, '2410$1', '241$1'],
    ...gabon,
    forced: true,
  },
  {
    callingCode: '241',
    former: /^0?([47]\d{6})$/,
    present: '2417$1',
    back: [/^2417([47]\d{6})$/, '2410$1', '241$1'],
    ...gabon,
    forced: true,
  },
  {
    callingCode: '241',
    former: /^01(\d{6})$/,
    present: '24111$1',
    back: [/^24111(\d{6})$/, '24101$1'],
    ...gabon,
    forced: true,
  },
  ...vietnamese.split(' ').map((pair) => rowOfVietnam(pair.slice(0, 3), pair.slice(4))),
  {
    callingCode: '377',
    former: /^(4[456]\d{6})$/,
    present: '383$1',
    back: [/^383(4[456]\d{6})$/, '377$1'],
    ...kosovo,
    forced: true,
  },
  {
    callingCode: '386',
    former: /^(49\d{6})$/,
    present: '383$1',
    back: [/^383(49\d{6})$/, '386$1'],
    ...kosovo,
    forced: true,
  },
  {
    callingCode: '972',
    former: /^(5[69]\d{7})$/,
    present: '970$1',
    back: [/^970(5[69]\d{7})$/, '972$1'],
    since: '1995-09-28',
    authority: 'both codes reach the same Palestinian mobiles: google/libphonenumber#1134',
    identityOnly: true,
  },
];

const rulesByCode = new Map<string, readonly NumberRule[]>();
for (const rule of numberRules) {
  rulesByCode.set(rule.callingCode, [...(rulesByCode.get(rule.callingCode) ?? []), rule]);
}

/** The international digits that a former number has today; undefined if it is no former number. */
export function presentForm(
  callingCode: string,
  nationalNumber: string,
  kind?: 'forced',
): string | undefined {
  const rules = rulesByCode.get(callingCode);
  if (rules === undefined) return undefined;
  for (const { former, present, forced, identityOnly } of rules) {
    if (identityOnly === true || (kind === 'forced' && forced !== true)) continue;
    if (former.test(nationalNumber)) return nationalNumber.replace(former, present);
  }
  return undefined;
}

/** The calling codes of former numbers. */
export const formerCodes: readonly string[] = [...rulesByCode.keys()];

/** The rules of each calling code with which a present form begins. */
const rulesByPresentCode = new Map<string, readonly NumberRule[]>();
for (const rule of numberRules) {
  const { callingCode, present } = rule;
  const code = present.startsWith(callingCode) ? callingCode : present.slice(0, 3);
  rulesByPresentCode.set(code, [...(rulesByPresentCode.get(code) ?? []), rule]);
}

/** Rules by a calling code of two or three digits, as a number: a list of a million numbers asks several times for each. */
const byNumber = (
  byCode: ReadonlyMap<string, readonly NumberRule[]>,
): ReadonlyMap<number, readonly NumberRule[]> =>
  new Map([...byCode].map(([code, rules]) => [Number(code), rules]));

const formerRules = byNumber(rulesByCode);
const presentRules = byNumber(rulesByPresentCode);

const digitAt = (digits: string, at: number): number => digits.charCodeAt(at) - 48;

/** Calling codes with rules have two or three digits, and no calling code begins with another. */
function rulesFor(
  byCode: ReadonlyMap<number, readonly NumberRule[]>,
  digits: string,
): readonly NumberRule[] | undefined {
  const two = digitAt(digits, 0) * 10 + digitAt(digits, 1);
  return byCode.get(two) ?? byCode.get(two * 10 + digitAt(digits, 2));
}

/**
 * Who the person behind an international number is: two numbers with one identity are one person's. Never sent or shown. The
 * function `number_forms` of the schema follows the same rules.
 */
export function identityOf(digits: string): string {
  const rules = rulesFor(formerRules, digits);
  if (rules === undefined) return digits;
  for (const { callingCode, former, present } of rules) {
    const nationalNumber = digits.slice(callingCode.length);
    if (former.test(nationalNumber)) return nationalNumber.replace(former, present);
  }
  return digits;
}

/** Every number, in digits, under which the person of a number may be stored or known to the provider: the identity first. */
export function formsOf(digits: string): readonly string[] {
  const identity = identityOf(digits);
  const rules = rulesFor(presentRules, identity);
  if (rules === undefined) return [identity];
  const forms = [identity];
  for (const { back } of rules) {
    const [present, ...formers] = back;
    if (!present.test(identity)) continue;
    for (const former of formers) {
      const form = identity.replace(present, former);
      if (identityOf(form) === identity) forms.push(form);
    }
  }
  return forms;
}

/** The forms of several numbers, each once. */
export const formsOfAll = (numbers: readonly string[]): readonly string[] => [
  ...new Set(numbers.flatMap((digits) => [digits, ...formsOf(digits)])),
];

/** Fewer digits begin numbers in every form, or too many. */
const shortestPrefix = 6;
const longestNumber = 15;

/** The beginnings that a number which begins with `digits` has in its other forms: `549…` for `54…`. All rules keep the end of a number. */
export function prefixForms(digits: string): readonly string[] {
  if (digits.length < shortestPrefix) return [];
  const prefixes = new Set<string>();
  for (let missing = 0; digits.length + missing <= longestNumber; missing += 1) {
    const rest = '0'.repeat(missing);
    for (const form of formsOf(digits + rest)) prefixes.add(form.slice(0, form.length - missing));
  }
  prefixes.delete(digits);
  return [...prefixes];
}
