/** Price cards: append-only lists of the provider's prices. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';

const PriceCardRow = t.type({
  id: t.string,
  name: nullable(t.string),
  currency: t.string,
  /** `2026-10-01`. */
  effectiveOn: t.string,
  source: t.string,
  sha256: t.string,
  loadedAt: timestamp,
  loadedBy: t.string,
});
export type PriceCardRow = t.TypeOf<typeof PriceCardRow>;

const selection = sql.fragment`price_card.id, price_card.name, price_card.currency, price_card.effective_on::text AS "effectiveOn",
  price_card.source, price_card.sha256, price_card.loaded_at AS "loadedAt", price_card.loaded_by AS "loadedBy"`;

/** The latest first. */
export const listPriceCards = (connection: Connection): Promise<readonly PriceCardRow[]> =>
  connection.any(sql.type(row(PriceCardRow))`
    SELECT ${selection} FROM price_card ORDER BY effective_on DESC, loaded_at DESC LIMIT 1000`);

export async function findPriceCard(connection: Connection, id: string): Promise<PriceCardRow | undefined> {
  const found = await connection.maybeOne(sql.type(row(PriceCardRow))`
    SELECT ${selection} FROM price_card WHERE id = ${id}`);
  return found ?? undefined;
}

/** The card of this currency that applies last on that day; the one that was loaded last, if there are several. */
export async function findCardBefore(
  connection: Connection,
  currency: string,
  effectiveOn: string,
): Promise<PriceCardRow | undefined> {
  const found = await connection.maybeOne(sql.type(row(PriceCardRow))`
    SELECT ${selection} FROM price_card
    WHERE currency = ${currency} AND name IS NULL AND effective_on <= ${effectiveOn}::date
    ORDER BY effective_on DESC, loaded_at DESC LIMIT 1`);
  return found ?? undefined;
}

interface CardKey {
  readonly currency: string;
  readonly effectiveOn: string;
  readonly sha256: string;
}

export async function findSameCard(
  connection: Connection,
  { currency, effectiveOn, sha256 }: CardKey,
): Promise<PriceCardRow | undefined> {
  const found = await connection.maybeOne(sql.type(row(PriceCardRow))`
    SELECT ${selection} FROM price_card
    WHERE currency = ${currency} AND effective_on = ${effectiveOn}::date AND sha256 = ${sha256}`);
  return found ?? undefined;
}

const CardPriceRow = t.type({
  market: t.string,
  category: t.string,
  price: t.bigint,
  tierFrom: t.bigint,
  tierTo: nullable(t.bigint),
});

/** The prices of a card; those of the example are in `rate_card`, by country. */
export const listCardPrices = (connection: Connection, cardId: string) =>
  connection.any(sql.type(row(CardPriceRow))`
    SELECT market, category, price, tier_from AS "tierFrom", tier_to AS "tierTo"
    FROM price_card_price WHERE card_id = ${cardId}
    UNION ALL
    SELECT CASE country WHEN '' THEN 'Other' ELSE country END, category, price, 0, NULL FROM rate_card
    WHERE workspace_id IS NULL AND EXISTS (SELECT FROM price_card WHERE id = ${cardId} AND name = 'example')
    ORDER BY market, category, "tierFrom"`);

const CardMarketRow = t.type({ country: t.string, market: t.string });

export const listCardMarkets = (connection: Connection, cardId: string) =>
  connection.any(sql.type(row(CardMarketRow))`
    SELECT country, market FROM price_card_market WHERE card_id = ${cardId} ORDER BY country`);

interface NewCard extends CardKey {
  readonly source: string;
  readonly loadedBy: string;
  readonly prices: readonly t.TypeOf<typeof CardPriceRow>[];
  readonly markets: ReadonlyMap<string, string>;
}

/** In the caller's transaction. Returns undefined if the same card was loaded in the meantime. */
export async function insertPriceCard(
  connection: Connection,
  card: NewCard,
): Promise<PriceCardRow | undefined> {
  const inserted = await connection.maybeOne(sql.type(row(PriceCardRow))`
    INSERT INTO price_card (currency, effective_on, source, sha256, loaded_by)
    VALUES (${card.currency}, ${card.effectiveOn}::date, ${card.source}, ${card.sha256}, ${card.loadedBy})
    ON CONFLICT DO NOTHING RETURNING ${selection}`);
  if (inserted === null) return undefined;
  const { id } = inserted;
  const markets = [...card.markets].map(([country, market]) => [id, country, market]);
  await connection.query(sql.type(nothing)`
    INSERT INTO price_card_market (card_id, country, market)
    SELECT * FROM ${sql.unnest(markets, ['uuid', 'text', 'text'])} AS market`);
  const prices = card.prices.map(({ market, category, price, tierFrom, tierTo }) => [
    id,
    market,
    category,
    price,
    tierFrom,
    tierTo,
  ]);
  await connection.query(sql.type(nothing)`
    INSERT INTO price_card_price (card_id, market, category, price, tier_from, tier_to)
    SELECT * FROM ${sql.unnest(prices, ['uuid', 'text', 'text', 'int8', 'int8', 'int8'])} AS price`);
  return inserted;
}

const CardsOfChannel = t.type({
  currency: t.string,
  /** Null: no card of the currency is in force. */
  present: nullable(t.string),
  next: nullable(t.string),
});

/** Ids of the card in force for a channel and of the one that follows it. */
const cardsOfChannel = (connection: Connection, channelId: string) =>
  connection.one(sql.type(row(CardsOfChannel))`
    SELECT wallet.currency,
      (SELECT card_id FROM price_cards_of(${channelId}, interval '0')) AS present,
      (SELECT price_card.id FROM price_card
        WHERE price_card.currency = wallet.currency AND name IS NULL
          AND price_card.effective_on::timestamp AT TIME ZONE coalesce(business_account.time_zone, 'UTC') > now()
        ORDER BY price_card.effective_on, price_card.loaded_at DESC LIMIT 1) AS next
    FROM wallet JOIN channel ON channel.id = wallet.channel_id
    JOIN business_account ON business_account.id = channel.business_account_id
    WHERE wallet.channel_id = ${channelId}`);

export interface CardsOf {
  /** Undefined: there is no card for the wallet's currency. */
  readonly present: PriceCardRow | undefined;
  readonly next: PriceCardRow | undefined;
  readonly currency: string;
}

/** The card in force for a channel, which is the example as long as none is loaded for US dollars, and the next one. */
export async function findCardsOf(connection: Connection, channelId: string): Promise<CardsOf> {
  const { currency, present, next } = await cardsOfChannel(connection, channelId);
  const cards = await connection.any(sql.type(row(PriceCardRow))`
    SELECT ${selection} FROM price_card WHERE id = ANY(${sql.array(
      [present, next].flatMap((id) => id ?? []),
      'uuid',
    )}) OR name = 'example'`);
  const example = cards.find(({ name, ...card }) => name === 'example' && card.currency === currency);
  return {
    currency,
    present: cards.find(({ id }) => id === present) ?? example,
    next: cards.find(({ id }) => id === next),
  };
}

/** FROM and WHERE: wallets, with their channel, that have no card, or only one that applies for more than `days` days. */
export const walletsWithoutPrices = (days: number) => sql.fragment`
  FROM wallet JOIN channel ON channel.id = wallet.channel_id
  LEFT JOIN LATERAL (
    SELECT effective_on FROM price_card
    WHERE price_card.currency = wallet.currency AND name IS NULL AND effective_on <= current_date
    ORDER BY effective_on DESC LIMIT 1
  ) AS card ON true
  WHERE card.effective_on IS NULL OR current_date - card.effective_on > ${days}`;

const Missing = row(
  t.type({ id: t.string, currency: t.string, effectiveOn: nullable(t.string), days: nullable(t.number) }),
);

/** Business accounts whose wallets have no card, or only one that applies for more than `days` days. */
export const listAccountsWithoutPrices = (connection: Connection, days: number) =>
  connection.any(sql.type(Missing)`
    SELECT DISTINCT channel.business_account_id AS id, wallet.currency, card.effective_on::text AS "effectiveOn",
      current_date - card.effective_on AS days
    ${walletsWithoutPrices(days)}
    ORDER BY id LIMIT 100`);

export async function insertMarkup(
  connection: Connection,
  markup: {
    readonly workspaceId: number;
    readonly effectiveOn: string;
    readonly factor: string;
    readonly fixed: bigint;
  },
): Promise<void> {
  await connection.query(sql.type(nothing)`
    INSERT INTO price_markup (workspace_id, effective_on, factor, fixed)
    VALUES (${markup.workspaceId}, ${markup.effectiveOn}::date, ${markup.factor}::numeric, ${markup.fixed})`);
}
