import type { Dependencies } from '../../dependencies.ts';
import { Invalid } from '../../domain/error.ts';
import { amountBounds, parseAmount } from '../../domain/money.ts';
import { insertAuditEntry } from '../../records/operations/audit.ts';
import type { Transaction } from '../../records/database/database.ts';
import { getChannel } from '../../records/workspaces/channels.ts';
import { postLedgerEntry } from '../../records/wallet/wallets.ts';

export interface RechargeWallet {
  readonly workspaceId: number;
  readonly channelId: string;
  /** A positive decimal in the wallet's currency. */
  readonly amount: string;
}

/**
 * Adds money and returns the new balance in micro-units. Starts no paused campaign: that takes a `start` of its own.
 * `onPosted` runs in the transaction of the entry.
 */
export async function rechargeWallet(
  { database }: Pick<Dependencies, 'database'>,
  { workspaceId, channelId, amount }: RechargeWallet,
  onPosted: (transaction: Transaction) => Promise<void> = async () => undefined,
): Promise<bigint> {
  const parsed = parseAmount(amount);
  if (parsed === undefined || parsed <= 0n) {
    throw Invalid.at('amount', `amount must be a positive decimal string ${amountBounds}`);
  }
  await getChannel(database, workspaceId, channelId);
  return database.transaction(async (transaction) => {
    await insertAuditEntry(transaction, { workspaceId, action: 'wallet.recharge', objectId: channelId });
    const posted = await postLedgerEntry(transaction, { channelId, kind: 'recharge', amount: parsed });
    if (posted === undefined) throw Invalid.at('amount', 'amount would make the balance too large');
    await onPosted(transaction);
    return posted;
  });
}
