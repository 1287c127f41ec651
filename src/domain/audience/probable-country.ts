/**
 * Finds lists whose digits are probably national numbers of one country. One row cannot tell: 51998873403 is a number of Peru,
 * and one of Porto Alegre without its calling code. So this only warns; nothing is read otherwise because of it.
 */
import { readSpelling, textOfCell } from '../number-spelling.ts';
import { isMobile, planOfCountry, withoutPrefix } from '../numbering-plans.ts';
import { countryName } from '../phone-number.ts';
import type { Candidate } from './candidate.ts';

/** A number of which neither its spelling nor its row names the country. */
export interface PlainNumber {
  readonly digits: string;
  /** ISO 3166 alpha-2, as it was read; undefined if it was refused. */
  readonly country: string | undefined;
}

/** Undefined if the number names its country. `countryColumn` is the column of a CSV in which countries stand. */
export function plainNumber(
  { given, phone, row }: Candidate,
  countryColumn: number | undefined,
): PlainNumber | undefined {
  if (countryColumn !== undefined && textOfCell(row?.[countryColumn] ?? '') !== '') return undefined;
  const spelling = readSpelling(textOfCell(given));
  if ('problem' in spelling || spelling.isInternational === true || spelling.country !== undefined)
    return undefined;
  const { digits } = spelling;
  return /^\+|^00/.test(digits) ? undefined : { digits, country: phone?.country };
}

const leastNumbers = 5;
const leastRefused = 0.2;
const leastCountries = 5;
const leastMobile = 0.8;

/** The largest countries, and the largest markets of the provider. */
const commonCountries =
  'IN BR ID US MX NG PK DE IT GB ES AR CO ZA EG TR MY RU FR PE BD SA AE PH KE MA CL GH NL EC CN JP ET CD VN IR TH TZ MM KR'.split(
    ' ',
  );

/**
 * A sentence that names the country; undefined if the numbers are read as they were probably meant. `first` are the countries
 * that are likelier than others.
 */
export function probableCountry(
  numbers: readonly PlainNumber[],
  first: readonly string[],
): string | undefined {
  if (numbers.length < leastNumbers) return undefined;
  const read = numbers.flatMap(({ country }) => country ?? []);
  const refused = numbers.length - read.length;
  const countries = new Set(read).size;
  if (refused < leastRefused * numbers.length && countries < leastCountries) return undefined;
  let [best, most] = ['', 0];
  for (const country of new Set([...first, ...commonCountries])) {
    const mobiles = mobilesOf(country, numbers);
    if (mobiles > most) [best, most] = [country, mobiles];
  }
  if (most < leastMobile * numbers.length) return undefined;
  const name = countryName(best);
  const others = read.length === 0 ? '' : `, the others belong to ${counted(countries)}`;
  return `${most} of ${numbers.length} numbers without + and country are mobile numbers of ${name}, but they are read as international digits: ${refused} are refused${others}. If they are numbers of ${name}, give default_country ${best}`;
}

const counted = (countries: number): string => (countries === 1 ? '1 country' : `${countries} countries`);

function mobilesOf(country: string, numbers: readonly PlainNumber[]): number {
  const plan = planOfCountry(country);
  if (plan === undefined) return 0;
  return numbers.filter(({ digits }) => isMobile(plan, withoutPrefix(plan, digits))).length;
}
