/** What a workspace is told about its wallets: each low balance once, and each missing or old price card once. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { notFound } from '../../domain/error.ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row } from '../database/row.ts';
import { walletsWithoutPrices } from './price-cards.ts';

/** Null: no notice. Throws NotFound for a channel of another workspace. */
export async function saveLowBalanceThreshold(
  connection: Connection,
  workspaceId: number,
  { channelId, threshold }: { readonly channelId: string; readonly threshold: bigint | null },
): Promise<void> {
  const { rowCount } = await connection.query(sql.type(nothing)`
    UPDATE wallet SET low_balance_threshold = ${threshold}, low_balance_since = NULL
    WHERE workspace_id = ${workspaceId} AND channel_id = ${channelId}`);
  if (rowCount === 0) notFound('Channel');
}

const LowBalance = row(
  t.type({
    id: t.string,
    workspaceId: t.number,
    displayPhoneNumber: t.string,
    available: t.bigint,
    threshold: t.bigint,
    currency: t.string,
    isLow: t.boolean,
  }),
);

/** Marks wallets that have crossed their threshold since the last call; returns those that fell below it. */
export async function takeLowBalances(connection: Connection) {
  const crossed = await connection.any(sql.type(LowBalance)`
    WITH crossed AS MATERIALIZED (
      SELECT channel_id FROM wallet
      WHERE low_balance_threshold IS NOT NULL
        AND (balance - reserved < low_balance_threshold) = (low_balance_since IS NULL)
      ORDER BY channel_id FOR NO KEY UPDATE SKIP LOCKED
    ), marked AS (
      UPDATE wallet SET low_balance_since = CASE WHEN low_balance_since IS NULL THEN now() END
      FROM crossed WHERE wallet.channel_id = crossed.channel_id
      RETURNING wallet.channel_id, wallet.workspace_id, balance - reserved AS available, low_balance_threshold, currency,
        low_balance_since IS NOT NULL AS is_low
    )
    SELECT channel.id, marked.workspace_id AS "workspaceId", display_phone_number AS "displayPhoneNumber", available,
      low_balance_threshold AS threshold, currency, is_low AS "isLow"
    FROM marked JOIN channel ON channel.id = marked.channel_id`);
  return crossed.filter(({ isLow }) => isLow);
}

const PriceGap = row(
  t.type({ id: t.string, workspaceId: t.number, currency: t.string, effectiveOn: nullable(t.string) }),
);

/** Business accounts whose wallets have no card, or only one older than `days` days, if that was not reported yet. */
export const takePriceGaps = (connection: Connection, days: number) =>
  connection.any(sql.type(PriceGap)`
    WITH gap AS MATERIALIZED (
      SELECT DISTINCT ON (channel.business_account_id) channel.business_account_id AS id, channel.workspace_id,
        wallet.currency, card.effective_on::text AS effective_on
      ${walletsWithoutPrices(days)}
      ORDER BY channel.business_account_id, wallet.currency
    ), reported AS (
      INSERT INTO price_notice (business_account_id, reported)
      SELECT id, concat_ws(' ', currency, effective_on) FROM gap ORDER BY id
      ON CONFLICT (business_account_id) DO UPDATE SET reported = excluded.reported
        WHERE price_notice.reported <> excluded.reported
      RETURNING business_account_id
    )
    SELECT id, workspace_id AS "workspaceId", currency, effective_on AS "effectiveOn"
    FROM gap JOIN reported ON business_account_id = id`);
