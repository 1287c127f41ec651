/** Reads an amount of money that a person typed. Never guesses between a separator of thousands and a decimal one. */
import { money } from './format.ts';

export type TypedAmount =
  | { readonly kind: 'amount'; readonly text: string }
  | { readonly kind: 'problem'; readonly message: string };

const problem = (message: string): TypedAmount => ({ kind: 'problem', message });
/** An example in the reader's own notation, as the ledger writes amounts. */
const example = (): string => money('20.28');
/** Groups of three digits, or, as in India, of two before the last three. */
const groups = /^(?:\d{1,3}(?:[.,]\d{3})*|\d{1,2}(?:,\d{2})*,\d{3})$/;
const plain = /^\d+(?:\.\d{1,6})?$/;

/** One text for equal amounts: a recharge is repeated, not added again, only where the text is the same. */
export const shortest = (amount: string): string =>
  amount
    .replace(/^0+(?=\d)/, '')
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '');

/** `20.28` and `20,28` are read, and `1,234.56`, `1.234,56` and `1,23,456.78`; `1,000` and `1.000` are asked about. */
export function readAmount(typed: string): TypedAmount {
  const text = typed.replaceAll(/[\s\u00A0'’]/g, '');
  if (text === '') return problem(`Type an amount, such as ${example()}.`);
  if (!/^[\d.,]+$/.test(text))
    return problem(`An amount has digits and one decimal separator, such as ${example()}.`);
  const marks = [...text.matchAll(/[.,]/g)].map(([mark]) => mark);
  const last = marks.at(-1) ?? '';
  const [whole = '', decimals = ''] = last === '' ? [text] : splitAtLast(text, last);
  const isSingle = marks.length === 1;
  if (isSingle && decimals.length === 3 && whole.replace(/^0+/, '') !== '') {
    const [many, few] = [whole + decimals, String(Number(`${whole}.${decimals}`))];
    const unmistakable = /\.\d{3}$/.test(few) ? `${few}0` : few;
    return problem(`Is that ${money(many)} or ${money(few)}? Write ${many} or ${unmistakable}.`);
  }
  const others = new Set(marks.slice(0, -1));
  // Separators of thousands are all alike, and stand before every three digits.
  if (others.size > 1 || (others.has(last) && decimals.length !== 3))
    return problem(`An amount has one decimal separator, such as ${money('1234.56')}.`);
  const grouped = others.has(last) ? text : whole;
  if (marks.length > 1 && !groups.test(grouped))
    return problem('The separators do not stand before every three digits.');
  const digits = whole.replaceAll(/[.,]/g, '');
  const amount = others.has(last) ? digits + decimals : `${digits || '0'}${decimals && `.${decimals}`}`;
  if (!plain.test(amount)) return problem(`An amount has at most six decimals, such as ${example()}.`);
  if (!(Number(amount) > 0)) return problem(`Type an amount above 0, such as ${example()}.`);
  return { kind: 'amount', text: shortest(amount) };
}

function splitAtLast(text: string, mark: string): readonly [string, string] {
  const at = text.lastIndexOf(mark);
  return [text.slice(0, at), text.slice(at + 1)];
}
