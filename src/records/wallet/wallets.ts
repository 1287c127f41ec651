/** Wallets, their ledger and the prices. Amounts are micro-units (`src/domain/money.ts`). */
import * as t from 'io-ts';
import { type FragmentSqlToken, sql, type ValueExpression } from 'slonik';
import { oneOf } from '../../codecs/struct.ts';
import { notFound } from '../../domain/error.ts';
import { largestAmount, type PriceCard } from '../../domain/money.ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';

const Wallet = t.type({
  channelId: t.string,
  balance: t.bigint,
  reserved: t.bigint,
  /** What late charges could not take. */
  uncollected: t.bigint,
  currency: t.string,
  /** Null: no notice. */
  lowBalanceThreshold: nullable(t.bigint),
});
export type Wallet = t.TypeOf<typeof Wallet>;

const selection = sql.fragment`channel_id AS "channelId", balance, reserved, uncollected, currency,
  low_balance_threshold AS "lowBalanceThreshold"`;

/** The wallet of a channel of this workspace; throws NotFound for any other. */
export async function getWallet(
  connection: Connection,
  workspaceId: number,
  channelId: string,
): Promise<Wallet> {
  const found = await connection.maybeOne(sql.type(row(Wallet))`
    SELECT ${selection} FROM wallet WHERE workspace_id = ${workspaceId} AND channel_id = ${channelId}`);
  return found ?? notFound('Channel');
}

export async function listWallets(connection: Connection, workspaceId: number): Promise<readonly Wallet[]> {
  return connection.any(sql.type(row(Wallet))`
    SELECT ${selection} FROM wallet WHERE workspace_id = ${workspaceId} ORDER BY channel_id`);
}

export interface NewLedgerEntry {
  readonly channelId: string;
  readonly kind: 'recharge' | 'adjustment' | 'charge' | 'refund' | 'correction';
  /** Not zero; a negative amount takes money out. */
  readonly amount: bigint;
  readonly reason?: string | undefined;
}

const Balance = row(t.type({ balance: t.bigint }));

/**
 * Changes the balance and writes the entry in one statement; returns the new balance. Writes nothing and returns undefined when
 * the balance would fall below the reserved amount or exceed the largest amount.
 */
export async function postLedgerEntry(
  connection: Connection,
  entry: NewLedgerEntry,
): Promise<bigint | undefined> {
  const balance = await connection.maybeOneFirst(sql.type(Balance)`
    WITH moved AS (
      UPDATE wallet SET balance = balance + ${entry.amount}, updated_at = now()
      WHERE channel_id = ${entry.channelId}
        AND balance + ${entry.amount} BETWEEN reserved AND ${largestAmount}
      RETURNING channel_id, workspace_id, balance
    ), entry AS (
      INSERT INTO ledger_entry (channel_id, workspace_id, kind, amount, reason)
      SELECT channel_id, workspace_id, ${entry.kind}, ${entry.amount}, ${entry.reason ?? null} FROM moved
    )
    SELECT balance FROM moved`);
  return balance ?? undefined;
}

const CountryPrice = row(t.type({ country: t.string, price: t.bigint }));

/** What decides the prices of a template's messages besides its present category. */
export interface PriceTerms {
  /** The category that the provider has announced, and when it takes effect; null: none is announced. */
  readonly upcomingCategory?: ValueExpression;
  readonly upcomingCategoryAt?: ValueExpression;
  /** How long the provider tries to deliver a message; null: the default of the category. */
  readonly ttlSeconds?: ValueExpression;
}

/** Of a template that is read already. */
export const priceTerms = (template: {
  readonly upcomingCategory: string | null;
  readonly upcomingCategoryAt: Date | null;
  readonly sendTtlSeconds: number | null;
}): PriceTerms => ({
  upcomingCategory: template.upcomingCategory,
  upcomingCategoryAt: template.upcomingCategoryAt?.toISOString() ?? null,
  ttlSeconds: template.sendTtlSeconds,
});

/** Of a row of `template` in the statement. */
export const priceTermsOfTemplate: PriceTerms = {
  upcomingCategory: sql.fragment`template.upcoming_category`,
  upcomingCategoryAt: sql.fragment`template.upcoming_category_at`,
  ttlSeconds: sql.fragment`template.message_send_ttl_seconds`,
};

/**
 * Rows of country and price for one category, always with a row for every other country (''). A message may be delivered until
 * its time to live is over: a country has its highest price on the card in force, on the next one and in the announced
 * category, as far as they begin by then. Without a card, the example: a workspace's own rows of `rate_card` win over the
 * default ones. A category without a price for every other country has the prices of MARKETING, or 0 if that has none.
 */
export const cardOf = (
  channelId: ValueExpression,
  category: ValueExpression,
  { upcomingCategory = null, upcomingCategoryAt = null, ttlSeconds = null }: PriceTerms = {},
) => sql.fragment`
  WITH lasts AS MATERIALIZED (
    SELECT make_interval(secs => COALESCE(${ttlSeconds}::int4, CASE ${category} WHEN 'AUTHENTICATION' THEN 600 ELSE 2592000 END)) AS ahead
  ), wanted AS MATERIALIZED (
    SELECT ${category}::text AS category
    UNION
    SELECT upcoming.category FROM lasts CROSS JOIN (SELECT ${upcomingCategory}::text AS category) AS upcoming
    WHERE upcoming.category IS NOT NULL AND COALESCE(${upcomingCategoryAt}::timestamptz, now()) <= now() + lasts.ahead
  ), card AS MATERIALIZED (
    SELECT cards.card_id FROM lasts CROSS JOIN LATERAL price_cards_of(${channelId}, lasts.ahead) AS cards
  ), list AS MATERIALIZED (
    SELECT card.card_id || wanted.category AS source, market.country, price.price FROM card CROSS JOIN wanted
    JOIN price_card_market AS market ON market.card_id = card.card_id
    JOIN price_card_price AS price ON price.card_id = card.card_id AND price.market = market.market AND price.tier_from = 0
      AND price.category = CASE WHEN EXISTS (
        SELECT FROM price_card_market AS other JOIN price_card_price AS its ON its.card_id = other.card_id
          AND its.market = other.market AND its.category = wanted.category
        WHERE other.card_id = card.card_id AND other.country = '') THEN wanted.category ELSE 'MARKETING' END
    UNION ALL
    SELECT wanted.category, example.country, example.price FROM wanted CROSS JOIN LATERAL (
      SELECT DISTINCT ON (country) country, price FROM (
        SELECT country, price, workspace_id, false AS is_missing FROM rate_card
        WHERE (workspace_id = (SELECT owner.workspace_id FROM channel AS owner WHERE owner.id = ${channelId}) OR workspace_id IS NULL)
          AND category = CASE WHEN EXISTS (
            SELECT FROM rate_card AS other WHERE other.category = wanted.category AND other.country = ''
              AND (other.workspace_id = (SELECT owner.workspace_id FROM channel AS owner WHERE owner.id = ${channelId})
                OR other.workspace_id IS NULL)) THEN wanted.category ELSE 'MARKETING' END
        UNION ALL SELECT '', 0, NULL, true
      ) AS priced
      ORDER BY country, is_missing, workspace_id NULLS LAST
    ) AS example
    WHERE NOT EXISTS (SELECT FROM card)
  )
  -- A country that one card names pays the price for every other country on a card that does not.
  SELECT place.country, ceil(max(COALESCE(own.price, elsewhere.price)) * markup.factor + markup.fixed)::bigint AS price
  FROM (SELECT DISTINCT country FROM list) AS place
  CROSS JOIN (SELECT source, price FROM list WHERE country = '') AS elsewhere
  LEFT JOIN list AS own ON own.country = place.country AND own.source = elsewhere.source
  CROSS JOIN price_markup_of(${channelId}) AS markup
  GROUP BY place.country, markup.factor, markup.fixed`;

/** The price of `country`, a column of the statement; the same as `priceOf`. */
export function priceIn(card: PriceCard, country: FragmentSqlToken): FragmentSqlToken {
  const prices = JSON.stringify(Object.fromEntries([...card].map(([code, price]) => [code, `${price}`])));
  return sql.fragment`COALESCE((${prices}::jsonb ->> ${country})::bigint, (${prices}::jsonb ->> '')::bigint)`;
}

/** The prices of one category, without those that equal the price for every other country. */
export async function findPrices(
  connection: Connection,
  channelId: string,
  category: string,
  terms: PriceTerms = {},
): Promise<PriceCard> {
  const prices = await connection.any(
    sql.type(CountryPrice)`${cardOf(sql.fragment`${channelId}::uuid`, category, terms)}`,
  );
  const elsewhere = prices.find(({ country }) => country === '')?.price;
  return new Map(
    prices
      .filter(({ country, price }) => country === '' || price !== elsewhere)
      .map(({ country, price }) => [country, price]),
  );
}

const Price = t.type({ category: t.string, country: t.string, price: t.bigint });
export type Price = t.TypeOf<typeof Price>;

/**
 * The prices of messages that a channel's recipients get now, or got at the given time; of these countries and every other one
 * alone, if there are any.
 */
export async function listPrices(
  connection: Connection,
  channelId: string,
  countries?: readonly string[],
  at?: Date,
): Promise<readonly Price[]> {
  const time = sql.fragment`COALESCE(${at?.toISOString() ?? null}::timestamptz, now())`;
  const wanted =
    countries === undefined
      ? sql.fragment`TRUE`
      : sql.fragment`country = ANY(${sql.array(['', ...countries], 'text')})`;
  return connection.any(sql.type(row(Price))`
    WITH card AS MATERIALIZED (SELECT price_card_at(${channelId}, ${time}) AS card_id)
    SELECT category, country, ceil(list.price * markup.factor + markup.fixed)::bigint AS price
    FROM (
      SELECT price.category, market.country, price.price FROM card
      JOIN price_card_market AS market ON market.card_id = card.card_id AND ${wanted}
      JOIN price_card_price AS price ON price.card_id = card.card_id AND price.market = market.market AND price.tier_from = 0
      UNION ALL
      SELECT * FROM (
        SELECT DISTINCT ON (category, country) category, country, price FROM rate_card
        WHERE (workspace_id = (SELECT owner.workspace_id FROM channel AS owner WHERE owner.id = ${channelId}) OR workspace_id IS NULL) AND ${wanted}
        ORDER BY category, country, workspace_id NULLS LAST
      ) AS example
      WHERE (SELECT card_id FROM card) IS NULL
    ) AS list CROSS JOIN price_markup_at(${channelId}, ${time}) AS markup
    ORDER BY category, country`);
}

const LedgerEntry = t.type({
  id: t.bigint,
  channelId: t.string,
  kind: oneOf(['recharge', 'adjustment', 'charge', 'refund', 'correction']),
  amount: t.bigint,
  campaignId: nullable(t.string),
  messageId: nullable(t.string),
  messageCount: nullable(t.number),
  reason: nullable(t.string),
  createdAt: timestamp,
});
export type LedgerEntry = t.TypeOf<typeof LedgerEntry>;

/** Newest first; only entries older than `before`. */
export async function listLedgerEntries(
  connection: Connection,
  channelId: string,
  { before, limit }: { readonly before: bigint | undefined; readonly limit: number },
): Promise<readonly LedgerEntry[]> {
  return connection.any(sql.type(row(LedgerEntry))`
    SELECT id, channel_id AS "channelId", kind, amount, campaign_id AS "campaignId", message_id AS "messageId",
      message_count AS "messageCount", reason, created_at AS "createdAt"
    FROM ledger_entry
    WHERE channel_id = ${channelId} AND (${before ?? null}::bigint IS NULL OR id < ${before ?? null}::bigint)
    ORDER BY id DESC LIMIT ${limit}`);
}

// Reservations of messages whose outcome is UNKNOWN.

export interface UnknownMessages {
  readonly workspaceId: number;
  /** Absent: all campaigns and single sends. */
  readonly campaignId: string | undefined;
  readonly olderThanHours: number;
  readonly limit: number;
}

/** `amount` in micro-units. */
const Released = t.type({ messages: t.number, amount: t.bigint });
export type ReleasedMoney = t.TypeOf<typeof Released>;

/**
 * Releases the reservations of one batch; the messages stay UNKNOWN, and a later receipt charges them. Recipients and messages
 * are locked before the wallet.
 */
export async function releaseUnknown(
  connection: Connection,
  { workspaceId, campaignId, olderThanHours, limit }: UnknownMessages,
): Promise<ReleasedMoney> {
  const before = sql.fragment`now() - make_interval(hours => ${olderThanHours})`;
  const campaign = sql.fragment`${campaignId ?? null}::uuid`;
  return connection.one(sql.type(row(Released))`
    WITH due AS (
      SELECT recipient.campaign_id, recipient.position, campaign.channel_id, recipient.price
      FROM campaign JOIN recipient ON recipient.campaign_id = campaign.id AND recipient.reason IS NOT NULL
      WHERE campaign.workspace_id = ${workspaceId} AND (${campaign} IS NULL OR campaign.id = ${campaign})
        AND recipient.state = 'UNKNOWN' AND recipient.settlement = 'reserved' AND recipient.updated_at < ${before}
      ORDER BY recipient.campaign_id, recipient.position LIMIT ${limit}
      FOR NO KEY UPDATE OF recipient SKIP LOCKED
    ), due_message AS (
      SELECT id, channel_id, price FROM message
      WHERE workspace_id = ${workspaceId} AND (${campaign} IS NULL OR campaign_id = ${campaign})
        AND state = 'UNKNOWN' AND settlement = 'reserved' AND direction = 'outbound' AND updated_at < ${before}
      ORDER BY id LIMIT ${limit}
      FOR NO KEY UPDATE SKIP LOCKED
    ), freed AS (
      UPDATE recipient SET settlement = 'none' FROM due
      WHERE recipient.campaign_id = due.campaign_id AND recipient.position = due.position
      RETURNING due.channel_id, due.price
    ), freed_message AS (
      UPDATE message SET settlement = 'none' FROM due_message WHERE message.id = due_message.id
      RETURNING due_message.channel_id, due_message.price
    ), total AS (
      SELECT channel_id, count(*)::int AS messages, sum(price)::bigint AS amount
      FROM (SELECT * FROM freed UNION ALL SELECT * FROM freed_message) AS one GROUP BY channel_id
    ), settled_wallet AS (
      UPDATE wallet SET reserved = reserved - total.amount, updated_at = now()
      FROM total WHERE wallet.channel_id = total.channel_id
    )
    SELECT COALESCE(sum(messages), 0)::int AS messages, COALESCE(sum(amount), 0)::bigint AS amount FROM total`);
}

// Money of a batch of messages: wallets locked in order, then moved together with the ledger.

const LockedWallet = t.type({
  channel_id: t.string,
  workspace_id: t.number,
  balance: t.bigint,
  reserved: t.bigint,
  uncollected: t.bigint,
});
export type LockedWallet = t.TypeOf<typeof LockedWallet>;

export async function lockWallets(
  connection: Connection,
  channelIds: readonly string[],
): Promise<readonly LockedWallet[]> {
  if (channelIds.length === 0) return [];
  return connection.any(sql.type(row(LockedWallet))`
    SELECT channel_id, workspace_id, balance, reserved, uncollected FROM wallet
    WHERE channel_id = ANY(${sql.array(channelIds, 'uuid')})
    ORDER BY channel_id FOR NO KEY UPDATE`);
}

/** One ledger entry for all messages with the same campaign, kind and reason. */
export interface LedgerSum extends NewLedgerEntry {
  readonly workspaceId: number;
  readonly campaignId: string | null;
  readonly messageId: string | undefined;
  readonly messageCount: number;
  /** By country of the recipients; they add up to the amount. Absent: not known. */
  readonly countries?: ReadonlyMap<string, bigint>;
  /** The category that the provider reported; absent: the template's. */
  readonly category?: string | undefined;
}

/** Sets locked wallets to their new amounts and writes the entries that explain the change of balance. */
export async function writeSettlements(
  connection: Connection,
  wallets: readonly LockedWallet[],
  entries: readonly LedgerSum[],
): Promise<void> {
  if (wallets.length === 0) return;
  const amounts = wallets.map(({ channel_id, balance, reserved, uncollected }) => [
    channel_id,
    balance,
    reserved,
    uncollected,
  ]);
  await connection.query(sql.type(nothing)`
    UPDATE wallet SET balance = settled.balance, reserved = settled.reserved, uncollected = settled.uncollected,
      updated_at = now()
    FROM ${sql.unnest(amounts, ['uuid', 'int8', 'int8', 'int8'])}
      AS settled (channel_id, balance, reserved, uncollected)
    WHERE wallet.channel_id = settled.channel_id`);
  if (entries.length === 0) return;
  const rows = entries.map((entry) => [
    entry.channelId,
    entry.workspaceId,
    entry.kind,
    entry.amount,
    entry.campaignId,
    entry.messageId ?? null,
    entry.messageCount,
    entry.reason ?? null,
    entry.countries === undefined
      ? null
      : JSON.stringify(Object.fromEntries([...entry.countries].map(([country, sum]) => [country, `${sum}`]))),
    entry.category ?? null,
  ]);
  await connection.query(sql.type(nothing)`
    INSERT INTO ledger_entry (channel_id, workspace_id, kind, amount, campaign_id, message_id, message_count, reason, countries, category)
    SELECT entry.channel_id, entry.workspace_id, kind, amount, campaign_id, entry.message_id, message_count, reason, countries,
      COALESCE(entry.category, (SELECT template.category FROM template WHERE template.id = COALESCE(
        (SELECT template_id FROM campaign WHERE campaign.id = entry.campaign_id),
        (SELECT template_id FROM message WHERE message.id = entry.message_id))))
    FROM ${sql.unnest(rows, ['uuid', 'int4', 'text', 'int8', 'uuid', 'uuid', 'int4', 'text', 'jsonb', 'text'])}
      AS entry (channel_id, workspace_id, kind, amount, campaign_id, message_id, message_count, reason, countries, category)`);
}

// What late charges could not take. Every statement runs under the lock of the wallet.

const Debt = t.type({
  messageId: t.string,
  channelId: t.string,
  campaignId: nullable(t.string),
  /** False for messages outside campaigns and for test messages. */
  isRecipient: t.boolean,
  amount: t.bigint,
});
export type Debt = t.TypeOf<typeof Debt>;

const debtColumns = sql.fragment`
  message_id AS "messageId", channel_id AS "channelId", campaign_id AS "campaignId", is_recipient AS "isRecipient", amount`;

/** What these messages owe, by id; those that owe nothing are left out. */
export async function findUncollected(
  connection: Connection,
  messageIds: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  if (messageIds.length === 0) return new Map();
  const debts = await connection.any(sql.type(row(Debt))`
    SELECT ${debtColumns} FROM uncollected WHERE message_id = ANY(${sql.array(messageIds, 'uuid')})`);
  return new Map(debts.map(({ messageId, amount }) => [messageId, amount]));
}

/** The oldest debts of a channel, first those of the earliest time. */
export const listUncollected = (
  connection: Connection,
  channelId: string,
  limit: number,
): Promise<readonly Debt[]> =>
  connection.any(sql.type(row(Debt))`
    SELECT ${debtColumns} FROM uncollected WHERE channel_id = ${channelId}
    ORDER BY created_at, message_id LIMIT ${limit}`);

/** Stores the present amounts; a debt of 0 is over. */
export async function writeUncollected(connection: Connection, debts: readonly Debt[]): Promise<void> {
  const over = debts.filter(({ amount }) => amount === 0n).map(({ messageId }) => messageId);
  if (over.length > 0)
    await connection.query(sql.type(nothing)`
      DELETE FROM uncollected WHERE message_id = ANY(${sql.array(over, 'uuid')})`);
  const open = debts.filter(({ amount }) => amount !== 0n);
  if (open.length === 0) return;
  const rows = open.map(({ messageId, channelId, campaignId, isRecipient, amount }) => [
    messageId,
    channelId,
    campaignId,
    isRecipient,
    amount,
  ]);
  await connection.query(sql.type(nothing)`
    INSERT INTO uncollected (message_id, channel_id, campaign_id, is_recipient, amount)
    SELECT * FROM ${sql.unnest(rows, ['uuid', 'uuid', 'uuid', 'bool', 'int8'])} AS debt
    ON CONFLICT (message_id) DO UPDATE SET amount = excluded.amount`);
}
