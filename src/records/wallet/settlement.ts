/** Money of a batch of messages: wallets locked in order, then moved together with the ledger. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nothing, row } from '../database/row.ts';
import type { NewLedgerEntry } from './wallets.ts';

const LockedWallet = t.type({
  channel_id: t.string,
  workspace_id: t.number,
  balance: t.bigint,
  reserved: t.bigint,
});
export type LockedWallet = t.TypeOf<typeof LockedWallet>;

export async function lockWallets(
  connection: Connection,
  channelIds: readonly string[],
): Promise<readonly LockedWallet[]> {
  if (channelIds.length === 0) return [];
  return connection.any(sql.type(row(LockedWallet))`
    SELECT channel_id, workspace_id, balance, reserved FROM wallet
    WHERE channel_id = ANY(${sql.array(channelIds, 'uuid')})
    ORDER BY channel_id FOR NO KEY UPDATE`);
}

/** One ledger entry for all messages with the same campaign, kind and reason. */
export interface LedgerSum extends NewLedgerEntry {
  readonly workspaceId: number;
  readonly campaignId: string | null;
  readonly messageId: string | undefined;
  readonly messageCount: number;
}

/** Sets locked wallets to their new amounts and writes the entries that explain the change of balance. */
export async function writeSettlements(
  connection: Connection,
  wallets: readonly LockedWallet[],
  entries: readonly LedgerSum[],
): Promise<void> {
  if (wallets.length === 0) return;
  const amounts = wallets.map(({ channel_id, balance, reserved }) => [channel_id, balance, reserved]);
  await connection.query(sql.type(nothing)`
    UPDATE wallet SET balance = settled.balance, reserved = settled.reserved, updated_at = now()
    FROM ${sql.unnest(amounts, ['uuid', 'int8', 'int8'])} AS settled (channel_id, balance, reserved)
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
  ]);
  await connection.query(sql.type(nothing)`
    INSERT INTO ledger_entry (channel_id, workspace_id, kind, amount, campaign_id, message_id, message_count, reason)
    SELECT * FROM ${sql.unnest(rows, ['uuid', 'int4', 'text', 'int8', 'uuid', 'uuid', 'int4', 'text'])} AS entry`);
}
