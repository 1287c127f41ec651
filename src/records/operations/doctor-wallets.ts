/** Compares wallets with their ledgers and reservations, and corrects them. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection, Database } from '../database/database.ts';
import { nothing, nullable, row } from '../database/row.ts';
import { isSelected, limitOf, type Batch, type Selection } from './doctor-campaigns.ts';

const WalletBooks = t.type({
  channel_id: t.string,
  balance: t.bigint,
  reserved: t.bigint,
  ledger: t.bigint,
});
export type WalletBooks = t.TypeOf<typeof WalletBooks>;

/** Lists wallets with the sums of their ledgers, read in one statement and therefore of one instant. */
export function listWalletBooks(
  connection: Connection,
  selection: Selection,
): Promise<readonly WalletBooks[]> {
  const condition = isSelected(sql.fragment`channel_id`, selection);
  // One pass over the ledger: the entries of all wallets lie mixed, so a lookup per wallet would read the same pages each time.
  return connection.any(sql.type(row(WalletBooks))`
    SELECT channel_id, balance, reserved, COALESCE(ledger, 0)::bigint AS ledger
    FROM wallet LEFT JOIN (
      SELECT channel_id, sum(amount) AS ledger FROM ledger_entry WHERE ${condition} GROUP BY channel_id
    ) AS books USING (channel_id)
    WHERE ${condition} ORDER BY channel_id ${limitOf(selection)}`);
}

const Reserved = row(
  t.type({ channel_id: t.string, last_id: nullable(t.string), owed: t.bigint, messages: t.number }),
);
const noMessage = '00000000-0000-0000-0000-000000000000';

/** Sums, by channel, what one batch of messages outside campaigns reserves. `nextAfterId` is null after the last batch. */
export async function sumReservedMessages(
  connection: Connection,
  { afterId, limit }: Batch,
): Promise<{ readonly owed: ReadonlyMap<string, bigint>; readonly nextAfterId: string | null }> {
  const rows = await connection.any(sql.type(Reserved)`
    SELECT channel_id, (SELECT max(id::text) FROM (
        SELECT id FROM message WHERE id > ${afterId ?? noMessage}::uuid ORDER BY id LIMIT ${limit}) AS batch) AS last_id,
      COALESCE(sum(price) FILTER (WHERE settlement = 'reserved'), 0)::bigint AS owed, count(*)::int4 AS messages
    FROM (
      SELECT channel_id, price, settlement FROM message
      WHERE id > ${afterId ?? noMessage}::uuid ORDER BY id LIMIT ${limit}
    ) AS batch
    GROUP BY channel_id`);
  const read = rows.reduce((sum, { messages }) => sum + messages, 0);
  return {
    owed: new Map(rows.map(({ channel_id: channelId, owed }) => [channelId, owed])),
    nextAfterId: read < limit ? null : (rows[0]?.last_id ?? null),
  };
}

const Comparison = t.type({ balance: t.bigint, reserved: t.bigint, owed: t.bigint });
export type ReservationComparison = t.TypeOf<typeof Comparison>;

/**
 * Reads what a wallet has reserved and what its messages owe, of one instant. Only campaigns with open messages can owe
 * anything; `campaignIds` names others in which reservations were seen.
 */
export function compareReservations(
  connection: Connection,
  { channelId, campaignIds }: { readonly channelId: string; readonly campaignIds: readonly string[] },
): Promise<ReservationComparison | null> {
  return connection.maybeOne(sql.type(row(Comparison))`
    SELECT balance, reserved, COALESCE((
        SELECT sum(recipient.price) FROM campaign JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id
        JOIN recipient ON recipient.campaign_id = campaign.id
        WHERE campaign.channel_id = wallet.channel_id AND recipient.settlement = 'reserved'
          AND (campaign_counter.claimed + campaign_counter.unknown > 0 OR campaign.status IN ('RUNNING', 'PAUSED')
            OR campaign.id = ANY (${sql.array([...campaignIds], 'uuid')}))), 0)::bigint
      + COALESCE((
        SELECT sum(price) FROM message WHERE message.channel_id = wallet.channel_id AND settlement = 'reserved'), 0)::bigint
      AS owed
    FROM wallet WHERE channel_id = ${channelId}`);
}

/** Adds the entry that makes the ledger sum up to the balance. The balance stays, because spending was checked against it. */
export async function correctLedger(database: Database, channelId: string): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction.query(sql.type(nothing)`SELECT FROM wallet WHERE channel_id = ${channelId} FOR UPDATE`);
    await transaction.query(sql.type(nothing)`
      INSERT INTO ledger_entry (channel_id, workspace_id, kind, amount, reason)
      SELECT channel_id, workspace_id, 'correction', missing, 'doctor: the entries did not sum up to the balance'
      FROM (
        SELECT channel_id, workspace_id, balance - COALESCE((
          SELECT sum(amount) FROM ledger_entry WHERE ledger_entry.channel_id = wallet.channel_id), 0)::bigint AS missing
        FROM wallet WHERE channel_id = ${channelId}
      ) AS difference
      WHERE missing <> 0`);
  });
}

/**
 * Sets the reserved amount to what the messages owe. Every reservation and settlement holds the wallet's lock until its
 * commit, so the sum under the lock includes all of them. False when the balance does not cover it.
 */
export function correctReservations(
  database: Database,
  request: { readonly channelId: string; readonly campaignIds: readonly string[] },
): Promise<boolean> {
  return database.transaction(async (transaction) => {
    await transaction.query(sql.type(nothing)`
      SELECT FROM wallet WHERE channel_id = ${request.channelId} FOR UPDATE`);
    const found = await compareReservations(transaction, request);
    if (found === null || found.owed > found.balance) return false;
    await transaction.query(sql.type(nothing)`
      UPDATE wallet SET reserved = ${found.owed}, updated_at = now() WHERE channel_id = ${request.channelId}`);
    return true;
  });
}
