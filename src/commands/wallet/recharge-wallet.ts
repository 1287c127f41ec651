import type { Dependencies } from '../../dependencies.ts';
import { Invalid } from '../../domain/error.ts';
import { parseAmount } from '../../domain/money.ts';
import { insertAuditEntry } from '../../records/operations/audit.ts';
import { getChannel } from '../../records/workspaces/channels.ts';
import { postLedgerEntry } from '../../records/wallet/wallets.ts';

export interface RechargeWallet {
  readonly workspaceId: number;
  readonly channelId: string;
  /** A positive decimal in the wallet's currency. */
  readonly amount: string;
}

/** Adds money. It starts no paused campaign again: that takes a `start` of its own. The new balance, in micro-units. */
export async function rechargeWallet(
  { database }: Pick<Dependencies, 'database'>,
  { workspaceId, channelId, amount }: RechargeWallet,
): Promise<bigint> {
  const parsed = parseAmount(amount);
  if (parsed === undefined || parsed <= 0n) {
    throw Invalid.at('amount', 'amount must be a positive decimal string with at most six places');
  }
  await getChannel(database, workspaceId, channelId);
  const balance = await database.transaction(async (transaction) => {
    await insertAuditEntry(transaction, { workspaceId, action: 'wallet.recharge', objectId: channelId });
    return postLedgerEntry(transaction, { channelId, kind: 'recharge', amount: parsed });
  });
  if (balance === undefined) throw Invalid.at('amount', 'amount would make the balance too large');
  return balance;
}
