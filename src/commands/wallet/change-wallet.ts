/** What operators do to a channel's wallet: recharge, adjust, and release reservations of messages whose outcome is unknown. */
import type { Dependencies } from '../../dependencies.ts';
import { Conflict, Invalid } from '../../domain/error.ts';
import { amountBounds, formatAmount, parseAmount } from '../../domain/money.ts';
import { getCampaign } from '../../records/campaigns/campaigns.ts';
import { addToMinute, moveCounters, noStateMoves } from '../../records/campaigns/status-counters.ts';
import type { Transaction } from '../../records/database/database.ts';
import { insertAuditEntry } from '../../records/operations/audit.ts';
import {
  type Debt,
  type LedgerSum,
  listUncollected,
  type LockedWallet,
  lockWallets,
  postLedgerEntry,
  type ReleasedMoney,
  releaseUnknown,
  type UnknownMessages,
  writeSettlements,
  writeUncollected,
} from '../../records/wallet/wallets.ts';
import { getChannel } from '../../records/workspaces/channels.ts';
import { requireWorkspace } from '../../records/workspaces/workspaces.ts';

export interface RechargeWallet {
  readonly workspaceId: number;
  readonly channelId: string;
  /** A positive decimal in the wallet's currency. */
  readonly amount: string;
}

/**
 * Adds money, takes what is uncollected first, and returns the new balance in micro-units. Does not start paused campaigns; that takes a separate `start`.
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
    const details = { amount: formatAmount(parsed) };
    await insertAuditEntry(transaction, {
      workspaceId,
      action: 'wallet.recharge',
      objectId: channelId,
      details,
    });
    const posted = await postLedgerEntry(transaction, { channelId, kind: 'recharge', amount: parsed });
    if (posted === undefined) throw Invalid.at('amount', 'amount would make the balance too large');
    const balance = posted - (await collect(transaction, channelId));
    await onPosted(transaction);
    return balance;
  });
}

/** 1,000 debts at a time. */
const debtsAtOnce = 1_000;

/** Takes what late charges could not take, the oldest first, as far as the balance allows; returns how much. Locks the wallet. */
async function collect(transaction: Transaction, channelId: string): Promise<bigint> {
  let [wallet] = await lockWallets(transaction, [channelId]);
  let taken = 0n;
  const charged = new Map<string, bigint>();
  while (wallet !== undefined && wallet.uncollected > 0n && wallet.balance > wallet.reserved) {
    const debts = await listUncollected(transaction, channelId, debtsAtOnce);
    if (debts.length === 0) break;
    const { entries, rest, left } = payDebts(debts, wallet);
    const paid = wallet.balance - left;
    wallet = { ...wallet, balance: left, uncollected: wallet.uncollected - paid };
    taken += paid;
    await writeSettlements(transaction, [wallet], entries);
    await writeUncollected(transaction, rest);
    for (const { campaignId, messageId, amount } of entries)
      if (campaignId !== null && messageId === undefined)
        charged.set(campaignId, (charged.get(campaignId) ?? 0n) - amount);
  }
  // Once, so that no counter is locked after a minute.
  const charges = [...charged].map(([campaignId, amount]) => ({ campaignId, charged: amount }));
  await moveCounters(
    transaction,
    charges.map((one) => ({ ...one, by: noStateMoves })),
  );
  await addToMinute(
    transaction,
    charges.map((one) => ({ ...one, accepted: 0, delivered: 0, read: 0, failed: 0 })),
  );
  return taken;
}

/** One entry for each campaign, and for each message outside campaigns. */
function payDebts(debts: readonly Debt[], { workspace_id: workspaceId, balance, reserved }: LockedWallet) {
  const entries = new Map<string, LedgerSum>();
  const rest: Debt[] = [];
  let left = balance;
  for (const debt of debts) {
    const available = left - reserved;
    if (available === 0n) break;
    const paid = debt.amount < available ? debt.amount : available;
    left -= paid;
    rest.push({ ...debt, amount: debt.amount - paid });
    const { channelId } = debt;
    const campaignId = debt.isRecipient ? debt.campaignId : null;
    const messageId = debt.isRecipient ? undefined : debt.messageId;
    const key = messageId ?? campaignId ?? '';
    const present = entries.get(key);
    entries.set(key, {
      channelId,
      workspaceId,
      campaignId,
      messageId,
      kind: 'charge',
      amount: (present?.amount ?? 0n) - paid,
      messageCount: (present?.messageCount ?? 0) + 1,
      reason: 'UNCOLLECTED',
    });
  }
  return { entries: [...entries.values()], rest, left };
}

interface AdjustWallet {
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
    const details = { amount: formatAmount(parsed) };
    await insertAuditEntry(transaction, {
      workspaceId,
      action: 'wallet.adjust',
      objectId: channelId,
      details,
    });
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

const limit = 5000;

/** Releases the reservations of UNKNOWN messages without a receipt for the given time, batch by batch. Safe to repeat. Throws NotFound. */
export async function releaseUnknownMessages(
  { database }: Pick<Dependencies, 'database'>,
  request: Omit<UnknownMessages, 'limit'>,
): Promise<ReleasedMoney> {
  const { workspaceId, campaignId } = request;
  await requireWorkspace(database, workspaceId);
  if (campaignId !== undefined) await getCampaign(database, workspaceId, campaignId);
  const total = { messages: 0, amount: 0n };
  for (;;) {
    const { messages, amount } = await database.transaction(async (transaction) => {
      const released = await releaseUnknown(transaction, { ...request, limit });
      if (released.messages > 0) {
        const objectId = campaignId ?? String(workspaceId);
        const details = { amount: formatAmount(released.amount), messages: String(released.messages) };
        await insertAuditEntry(transaction, {
          workspaceId,
          action: 'wallet.release-unknown',
          objectId,
          details,
        });
      }
      return released;
    });
    if (messages === 0) return total;
    total.messages += messages;
    total.amount += amount;
  }
}
