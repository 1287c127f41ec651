/** Moves the money of a batch of messages: wallets, their ledger, and what could not be collected. */
import type { SettlementOutcome } from '../../domain/wallet/settlement.ts';
import type { Connection } from '../../records/database/database.ts';
import {
  type Debt,
  findUncollected,
  type LedgerSum,
  type LockedWallet,
  lockWallets,
  type NewLedgerEntry,
  writeSettlements,
  writeUncollected,
} from '../../records/wallet/wallets.ts';

interface Target {
  readonly id: string;
  readonly kind: 'recipient' | 'message';
  readonly channel_id: string;
  readonly workspace_id: number;
  readonly campaign_id: string | null;
  readonly country: string;
}

export interface MoneyOfWallet {
  /** balance − reserved. */
  readonly available: bigint;
  /** What the message owes. */
  readonly uncollected: bigint;
}

export interface DueMessage {
  readonly target: Target;
  readonly settle: (wallet: MoneyOfWallet) => SettlementOutcome;
  readonly correctionReason?: string;
  readonly refundReason?: string;
}

/** In the caller's transaction, which has locked the messages. Returns the settlement of each by its id. */
export async function settleBatch(
  connection: Connection,
  due: readonly DueMessage[],
): Promise<ReadonlyMap<string, SettlementOutcome>> {
  const money = new Map<string, SettlementOutcome>();
  if (due.length === 0) return money;
  const wallets = new Map<string, LockedWallet>();
  const channelIds = [...new Set(due.map(({ target }) => target.channel_id))];
  for (const wallet of await lockWallets(connection, channelIds)) wallets.set(wallet.channel_id, wallet);
  const owing = due.filter(({ target }) => (wallets.get(target.channel_id)?.uncollected ?? 0n) > 0n);
  const owed = await findUncollected(
    connection,
    owing.map(({ target }) => target.id),
  );

  const entries = new Map<string, LedgerSum>();
  const debts: Debt[] = [];
  for (const { target, settle, correctionReason, refundReason } of due) {
    const wallet = wallets.get(target.channel_id);
    if (wallet === undefined) continue;
    const uncollected = owed.get(target.id) ?? 0n;
    const outcome = settle({ available: wallet.balance - wallet.reserved, uncollected });
    money.set(target.id, outcome);
    const reasons = { charge: undefined, correction: correctionReason, refund: refundReason };
    for (const { kind, amount } of outcome.entries)
      add(entries, target, { kind, amount, reason: reasons[kind] });
    if (outcome.uncollected !== uncollected) debts.push(debtOf(target, outcome.uncollected));
    const change = outcome.entries.reduce((sum, { amount }) => sum + amount, 0n);
    wallets.set(target.channel_id, {
      ...wallet,
      balance: wallet.balance + change,
      reserved: wallet.reserved - outcome.released,
      uncollected: wallet.uncollected + outcome.uncollected - uncollected,
    });
  }
  await writeSettlements(connection, [...wallets.values()], [...entries.values()]);
  await writeUncollected(connection, debts);
  return money;
}

const debtOf = ({ id, kind, channel_id, campaign_id }: Target, amount: bigint): Debt => ({
  messageId: id,
  channelId: channel_id,
  campaignId: campaign_id,
  isRecipient: kind === 'recipient',
  amount,
});

/** Keeps one entry per campaign, kind and reason; a message outside campaigns has its own entries. */
function add(
  entries: Map<string, LedgerSum>,
  target: Target,
  { kind, amount, reason }: Pick<NewLedgerEntry, 'kind' | 'amount' | 'reason'>,
): void {
  const messageId = target.kind === 'message' ? target.id : undefined;
  const key = [messageId ?? target.campaign_id, kind, reason, amount > 0n].join(' ');
  const present = entries.get(key);
  const countries = new Map(present?.countries);
  countries.set(target.country, (countries.get(target.country) ?? 0n) + amount);
  entries.set(key, {
    channelId: target.channel_id,
    workspaceId: target.workspace_id,
    campaignId: target.campaign_id,
    messageId,
    kind,
    amount: (present?.amount ?? 0n) + amount,
    messageCount: (present?.messageCount ?? 0) + 1,
    reason,
    countries,
  });
}
