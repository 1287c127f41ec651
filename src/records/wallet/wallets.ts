/** Wallets, their ledger and the prices. Amounts are micro-units (`src/domain/money.ts`). */
import { type FragmentSqlToken, sql, type ValueExpression } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import { notFound } from '../../domain/error.ts';
import { largestAmount } from '../../domain/money.ts';
import type { PriceCard } from '../../domain/wallet/price.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row, timestamp } from '../database/row.ts';

const Wallet = t.type({ channelId: t.string, balance: t.bigint, reserved: t.bigint, currency: t.string });
export type Wallet = t.TypeOf<typeof Wallet>;

const selection = sql.fragment`channel_id AS "channelId", balance, reserved, currency`;

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

/**
 * Rows of country and price for one category, always with a row for every other country (''). The workspace's own rows win over
 * the default card. A category without a price for every other country has the prices of MARKETING, or 0 if that has none.
 */
export const cardOf = (workspaceId: ValueExpression, category: ValueExpression) => sql.fragment`
  SELECT DISTINCT ON (country) country, price FROM (
    SELECT country, price, workspace_id, false AS is_missing FROM rate_card
    WHERE (workspace_id = ${workspaceId} OR workspace_id IS NULL) AND category = CASE WHEN EXISTS (
      SELECT FROM rate_card AS other WHERE other.category = ${category} AND other.country = ''
        AND (other.workspace_id = ${workspaceId} OR other.workspace_id IS NULL)) THEN ${category} ELSE 'MARKETING' END
    UNION ALL SELECT '', 0, NULL, true
  ) AS priced
  ORDER BY country, is_missing, workspace_id NULLS LAST`;

/** The price of `country`, a column of the statement; the same as `priceOf`. */
export function priceIn(card: PriceCard, country: FragmentSqlToken): FragmentSqlToken {
  const prices = JSON.stringify(Object.fromEntries([...card].map(([code, price]) => [code, `${price}`])));
  return sql.fragment`COALESCE((${prices}::jsonb ->> ${country})::bigint, (${prices}::jsonb ->> '')::bigint)`;
}

/** The card of one category. */
export async function findPrices(
  connection: Connection,
  workspaceId: number,
  category: string,
): Promise<PriceCard> {
  const prices = await connection.any(sql.type(CountryPrice)`${cardOf(workspaceId, category)}`);
  return new Map(prices.map(({ country, price }) => [country, price]));
}

const Price = t.type({ category: t.string, country: t.string, price: t.bigint });
export type Price = t.TypeOf<typeof Price>;

/** The whole card of the workspace. */
export async function listPrices(connection: Connection, workspaceId: number): Promise<readonly Price[]> {
  return connection.any(sql.type(row(Price))`
    SELECT DISTINCT ON (category, country) category, country, price FROM rate_card
    WHERE workspace_id = ${workspaceId} OR workspace_id IS NULL
    ORDER BY category, country, workspace_id NULLS LAST`);
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
