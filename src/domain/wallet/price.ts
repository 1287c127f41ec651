/** Micro-units of a message by country; `''` is every other country, and every card has it. */
export type PriceCard = ReadonlyMap<string, bigint>;

/** `priceIn` of the claim computes the same in SQL. Throws when the card has no price for other countries. */
export function priceOf(card: PriceCard, country: string): bigint {
  const price = card.get(country) ?? card.get('');
  if (price === undefined) throw new Error('A price card has no price for other countries');
  return price;
}
