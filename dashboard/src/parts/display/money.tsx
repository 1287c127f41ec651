import { money, moneyTotal } from '../../format.ts';

/** A total with two places, and the exact amount on hover. */
export function Money({ amount, currency = '' }: { amount: string; currency?: string | undefined }) {
  return <span title={money(amount, currency)}>{moneyTotal(amount, currency)}</span>;
}
