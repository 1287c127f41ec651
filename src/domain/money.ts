/**
 * Money: integer micro-units (1,000,000 to the unit of the wallet's currency) inside, decimal strings outside.
 * Imports neither io-ts nor Node.
 */

const places = 6;
const unit = 10n ** BigInt(places);

/** Limit of every amount and balance, so that sums fit into 64 bits. */
export const largestAmount = 1_000_000_000_000n * unit;

/** Describes what `parseAmount` accepts, for messages. */
export const amountBounds = `with at most six places, and not beyond ${formatAmount(largestAmount)}`;

/** `12.5` → 12500000n; undefined for anything but a plain decimal with at most six places. */
export function parseAmount(text: string): bigint | undefined {
  const match = /^(-?)(\d{1,13})(?:\.(\d{1,6}))?$/.exec(text);
  if (match === null) return undefined;
  const [, sign = '', whole = '0', fraction = ''] = match;
  const amount = BigInt(whole) * unit + BigInt(fraction.padEnd(places, '0'));
  if (amount > largestAmount) return undefined;
  return sign === '-' ? -amount : amount;
}

/** 12500000n → `12.5`, without trailing zeros. */
export function formatAmount(amount: bigint): string {
  const absolute = amount < 0n ? -amount : amount;
  const fraction = (absolute % unit)
    .toString()
    .padStart(places, '0')
    .replace(/0{1,6}$/, '');
  const whole = (absolute / unit).toString();
  return `${amount < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Micro-units of a message by country; `''` is every other country, and every card has it. */
export type PriceCard = ReadonlyMap<string, bigint>;

/** `priceIn` of the claim computes the same in SQL. Throws when the card has no price for other countries. */
export function priceOf(card: PriceCard, country: string): bigint {
  const price = card.get(country) ?? card.get('');
  if (price === undefined) throw new Error('A price card has no price for other countries');
  return price;
}
