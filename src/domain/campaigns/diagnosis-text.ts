/** Parts of the sentences of a diagnosis. */
import { formatAmount } from '../money.ts';

// Created once: creating a formatter takes longer than a whole diagnosis.
const whole = new Intl.NumberFormat('en');
export const count = (value: number): string => whole.format(value);
export const people = (value: number): string => (value === 1 ? '1 person' : `${count(value)} people`);
export const amount = (value: bigint, currency: string): string => `${formatAmount(value)} ${currency}`;
export const join = (...sentences: readonly string[]): string => sentences.filter(Boolean).join(' ');
export const upperFirst = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
export const lowerFirst = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1);

/** Sentence about the pending recipients; '' when there are none. */
export function waitingSentence(pending: number): string {
  if (pending === 0) return '';
  return pending === 1 ? '1 person waits.' : `${count(pending)} people wait.`;
}
