/** Moves the money of a batch of messages: wallets, their ledger, and what could not be collected. */
import type { SettlementOutcome } from '../../domain/wallet/settlement.ts';
import type { Connection } from '../../records/database/database.ts';
import {
  type Debt,
  findUncollected,
  type LedgerSum,
  type LockedWallet,
  lockWallets,
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
  /** The category that the provider reported with the price; absent: the template's. */
  readonly correctedCategory?: string | undefined;
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
  for (const { target, settle, correctionReason, correctedCategory, refundReason } of due) {
    const wallet = wallets.get(target.channel_id);
    if (wallet === undefined) continue;
    const uncollected = owed.get(target.id) ?? 0n;
    const outcome = settle({ available: wallet.balance - wallet.reserved, uncollected });
    money.set(target.id, outcome);
    const reasons = { charge: undefined, correction: correctionReason, refund: refundReason };
    for (const { kind, amount } of outcome.entries) {
      const category = kind === 'correction' ? correctedCategory : undefined;
      add(entries, target, { kind, amount, reason: reasons[kind], category });
    }
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

const debtOf = (target: Target, amount: bigint): Debt => ({
  messageId: target.id,
  channelId: target.channel_id,
  campaignId: countedCampaign(target),
  isRecipient: target.kind === 'recipient',
  amount,
});

/** A campaign's test messages are no part of its cost. */
const countedCampaign = ({ kind, campaign_id: campaignId }: Target): string | null =>
  kind === 'recipient' ? campaignId : null;

/** Keeps one entry per campaign, kind and reason; a message outside campaigns has its own entries. */
function add(
  entries: Map<string, LedgerSum>,
  target: Target,
  { kind, amount, reason, category }: Pick<LedgerSum, 'kind' | 'amount' | 'reason' | 'category'>,
): void {
  const messageId = target.kind === 'message' ? target.id : undefined;
  const key = [messageId ?? target.campaign_id, kind, reason, category, amount > 0n].join(' ');
  const present = entries.get(key);
  const countries = new Map(present?.countries);
  countries.set(target.country, (countries.get(target.country) ?? 0n) + amount);
  entries.set(key, {
    channelId: target.channel_id,
    workspaceId: target.workspace_id,
    campaignId: countedCampaign(target),
    messageId,
    kind,
    amount: (present?.amount ?? 0n) + amount,
    messageCount: (present?.messageCount ?? 0) + 1,
    reason,
    countries,
    category,
  });
}
