/** Takes a search for contacts apart into words and digits. */
import { getCountries, getCountryCallingCode } from 'libphonenumber-js/max';

export interface ContactSearch {
  /** Every word begins a first name, a last name, a chat name or an e-mail address of the contact. Empty: no search. */
  readonly words: readonly string[];
  /** Set when the whole text is a number: with a calling code, or in its national digits. */
  readonly digits?: string;
}

const mostWords = 5;

export function readContactSearch(text: string): ContactSearch {
  const words = text
    .trim()
    .split(/\s+/)
    .filter((word) => word !== '')
    .slice(0, mostWords);
  const digits = text.replace(/[\s+().-]/g, '');
  return /^\d{1,15}$/.test(digits) ? { words, digits } : { words };
}

/** Every calling code there is: national digits are looked up behind each of them. */
export function listCallingCodes(): readonly string[] {
  return [...new Set(getCountries().map((country) => getCountryCallingCode(country)))];
}
