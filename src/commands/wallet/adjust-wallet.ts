import type { Dependencies } from '../../dependencies.ts';
import { Conflict, Invalid } from '../../domain/error.ts';
import { amountBounds, parseAmount } from '../../domain/money.ts';
import { insertAuditEntry } from '../../records/operations/audit.ts';
import { getChannel } from '../../records/workspaces/channels.ts';
import { postLedgerEntry } from '../../records/wallet/wallets.ts';

export interface AdjustWallet {
  readonly workspaceId: number;
  readonly channelId: string;
  /** A decimal in the wallet's currency; negative takes money out. */
  readonly amount: string;
  readonly reason: string;
}

/** Corrects the balance on behalf of an operator, with the reason in the ledger. Returns the new balance in micro-units. */
export async function adjustWallet(
  { database }: Pick<Dependencies, 'database'>,
  { workspaceId, channelId, amount, reason }: AdjustWallet,
): Promise<bigint> {
  const parsed = parseAmount(amount);
  if (parsed === undefined || parsed === 0n) {
    throw Invalid.at('amount', `amount must be a decimal string other than zero ${amountBounds}`);
  }
  if (reason.trim() === '' || reason.length > 1000) {
    throw Invalid.at('reason', 'reason must have 1 to 1000 characters');
  }
  await getChannel(database, workspaceId, channelId);
  return database.transaction(async (transaction) => {
    await insertAuditEntry(transaction, { workspaceId, action: 'wallet.adjust', objectId: channelId });
    const balance = await postLedgerEntry(transaction, {
      channelId,
      kind: 'adjustment',
      amount: parsed,
      reason,
    });
    if (balance === undefined)
      throw new Conflict('The balance would fall below what is reserved, or grow too large');
    return balance;
  });
}
