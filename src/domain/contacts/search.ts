/** Splits a search for contacts into words and digits. */
import { getCountries, getCountryCallingCode } from 'libphonenumber-js/max';
import { formerCodes, formsOfAll, prefixForms } from '../number-rules.ts';
import { normalisePhoneNumber } from '../phone-number.ts';

export interface ContactSearch {
  /** Each word must begin a word of a first, last or chat name, or an e-mail address. Empty: no search. */
  readonly words: readonly string[];
  /** If the whole text is a number: the forms in which it may be stored, as typed and without leading zeros. Otherwise empty. */
  readonly numbers: readonly string[];
  /** International digits with which a stored number may begin besides: those of a number in another spelling, and other forms of it. */
  readonly forms: readonly string[];
}

const mostWords = 5;

const plainLetters: Readonly<Record<string, string>> = {
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ı: 'i',
  ħ: 'h',
  ŧ: 't',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
};

/** A text as searches compare it: in small letters, without accents. The same as the function `search_text` of the schema. */
export const searchText = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replaceAll(/[øłđðıħŧßæœþ]/g, (letter) => plainLetters[letter] ?? letter);

export function readContactSearch(text: string): ContactSearch {
  const words = text
    .trim()
    .split(/\s+/)
    .filter((word) => word !== '')
    .slice(0, mostWords);
  const digits = text.replace(/[\s+().\-/]/g, '');
  const whole = normalisePhoneNumber(text)?.digits;
  const forms = whole === undefined ? [] : formsOfAll([whole]);
  if (!/^\d{1,17}$/.test(digits)) return { words, numbers: [], forms };
  // `0151 …` in Germany is stored as 49151…, `0049151…` likewise; an Italian 039 06 … keeps its zero.
  const numbers = [...new Set([digits, digits.replace(/^0{1,2}/, '')])].filter((form) => form !== '');
  // A former national number: contacts of 1.0.0 have it behind the code, all others have the present one.
  const national = formerCodes.flatMap((code) => numbers.flatMap((form) => prefixForms(code + form)));
  const others = new Set([
    ...forms,
    ...numbers.flatMap(prefixForms),
    ...(digits.length < shortestNational ? [] : national),
  ]);
  return { words, numbers, forms: [...others].filter((form) => !numbers.includes(form)) };
}

/** Shorter national digits are the beginning of too many numbers. */
const shortestNational = 8;

/** The E.164 digits that a dialled number may stand for: an international number, or a national one of any calling code. */
export function possibleNumbers(text: string): readonly string[] {
  const international = normalisePhoneNumber(text)?.digits;
  const { numbers } = readContactSearch(text);
  const isNational = numbers.length > 0 && !text.trim().startsWith('+');
  const national = isNational ? listCallingCodes().flatMap((code) => numbers.map((form) => code + form)) : [];
  const all = [...(international === undefined ? [] : [international]), ...numbers, ...national];
  return formsOfAll(all.filter(({ length }) => length <= longestNumber));
}

const longestNumber = 15;

/** Returns all calling codes; national digits are looked up with each of them in front. */
export function listCallingCodes(): readonly string[] {
  return [...new Set(getCountries().map((country) => getCountryCallingCode(country)))];
}
