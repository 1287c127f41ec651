/** The statement of a channel's month. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row } from '../database/row.ts';

/** In the order of the lines. */
const ledgerKinds = ['recharge', 'adjustment', 'charge', 'correction', 'refund'] as const;

const StatementRow = row(
  t.type({
    timeZone: t.string,
    opening: t.bigint,
    kind: nullable(oneOf(ledgerKinds)),
    category: nullable(t.string),
    market: nullable(t.string),
    country: nullable(t.string),
    amount: nullable(t.bigint),
  }),
);

export interface StatementLine {
  readonly kind: (typeof ledgerKinds)[number];
  /** Of the messages; null for recharges and adjustments, and where it is not known. */
  readonly category: string | null;
  /** On the card that applies at the end of the month; null without a published card, and where it is not known. */
  readonly market: string | null;
  /** ISO 3166 alpha-2; null if the market has several, and where it is not known. */
  readonly country: string | null;
  /** Signed micro-units. */
  readonly amount: bigint;
}

export interface Statement {
  /** Of the business account; the month begins at its midnight. */
  readonly timeZone: string;
  readonly opening: bigint;
  readonly closing: bigint;
  readonly lines: readonly StatementLine[];
}

/**
 * One statement, and therefore one moment: opening balance and lines add up to the closing balance. `month` is its first day.
 * Reads the entries since then.
 */
export async function readStatement(
  connection: Connection,
  channelId: string,
  month: string,
): Promise<Statement> {
  const rows = await connection.any(sql.type(StatementRow)`
    WITH span AS MATERIALIZED (
      SELECT wallet.channel_id, wallet.balance, zone.name AS zone,
        ${month}::date::timestamp AT TIME ZONE zone.name AS first,
        (${month}::date + interval '1 month') AT TIME ZONE zone.name AS last
      FROM wallet JOIN channel ON channel.id = wallet.channel_id
      JOIN business_account ON business_account.id = channel.business_account_id
      CROSS JOIN LATERAL (SELECT coalesce(business_account.time_zone, 'UTC') AS name) AS zone
      WHERE wallet.channel_id = ${channelId}
    ), card AS MATERIALIZED (
      SELECT price_card_at(span.channel_id, least(span.last - interval '1 second', now())) AS id FROM span
    ), place AS MATERIALIZED (
      SELECT country, market, count(*) FILTER (WHERE country <> '') OVER (PARTITION BY market) = 1
        AND NOT bool_or(country = '') OVER (PARTITION BY market) AS is_alone
      FROM price_card_market WHERE card_id = (SELECT id FROM card)
    ), line AS (
      SELECT entry.kind, coalesce(place.market, elsewhere.market) AS market, sum(part.amount)::bigint AS amount,
        CASE WHEN coalesce(place.is_alone, elsewhere.market IS NULL) THEN NULLIF(part.country, '') END AS country,
        -- Entries of earlier releases do not say it.
        coalesce(entry.category, substring(entry.reason FROM '^CATEGORY_(.*)$'), template.category) AS category
      FROM span JOIN ledger_entry AS entry ON entry.channel_id = span.channel_id
        AND entry.created_at >= span.first AND entry.created_at < span.last
      LEFT JOIN campaign ON campaign.id = entry.campaign_id
      LEFT JOIN message ON message.id = entry.message_id
      LEFT JOIN template ON template.id = coalesce(campaign.template_id, message.template_id)
      CROSS JOIN LATERAL (
        SELECT key AS country, value::bigint AS amount FROM jsonb_each_text(entry.countries)
        UNION ALL SELECT '', entry.amount WHERE entry.countries IS NULL
      ) AS part
      LEFT JOIN place ON place.country = part.country AND part.country <> ''
      LEFT JOIN place AS elsewhere ON elsewhere.country = '' AND part.country <> ''
      GROUP BY 1, 2, 4, 5
    )
    SELECT span.zone AS "timeZone", line.kind, line.category, line.market, line.country, line.amount,
      (span.balance - (SELECT coalesce(sum(amount), 0) FROM ledger_entry AS entry
        WHERE entry.channel_id = span.channel_id AND entry.created_at >= span.first))::bigint AS opening
    FROM span LEFT JOIN line ON true
    ORDER BY array_position(${sql.array([...ledgerKinds], 'text')}, line.kind),
      line.category, line.market, line.country`);
  const [{ timeZone, opening } = { timeZone: 'UTC', opening: 0n }] = rows;
  const lines = rows.flatMap(({ kind, category, market, country, amount }) =>
    kind === null || amount === null ? [] : [{ kind, category, market, country, amount }],
  );
  return {
    timeZone,
    opening,
    closing: lines.reduce((sum, { amount }) => sum + amount, opening),
    lines,
  };
}
