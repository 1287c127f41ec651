import { pricedCategory, type ReportedPricing } from '../../domain/callbacks/message-status.ts';
import { settle, type SettlementOutcome } from '../../domain/wallet/settlement.ts';
import type { Connection } from '../../records/database/database.ts';
import type { LockedMessage, StatusTarget } from '../../records/callbacks/message-statuses.ts';
import {
  lockWallets,
  writeSettlements,
  type LedgerSum,
  type LockedWallet,
} from '../../records/wallet/settlement.ts';
import { listPrices, type NewLedgerEntry } from '../../records/wallet/wallets.ts';

/** A message whose state has moved: `message` has the new state, and still the old price and settlement. */
export interface MovedMessage {
  readonly target: StatusTarget;
  readonly message: LockedMessage;
  readonly pricing: ReportedPricing | null;
}

type Money = Pick<SettlementOutcome, 'settlement' | 'price' | 'entries'>;

/**
 * Settles messages whose state has moved, at the price that the provider reported if there is one. Locks only the wallets that
 * change; the caller has locked the messages. Returns the new settlement by message id.
 */
export async function settleMessages(
  connection: Connection,
  moved: readonly MovedMessage[],
): Promise<ReadonlyMap<string, Money>> {
  const priceOf = await reportedPrices(connection, moved);
  const money = new Map<string, Money>();
  const due = moved.filter((candidate) => {
    const { message } = candidate;
    const outcome = settle({ ...message, reportedPrice: priceOf(candidate), available: unlimited });
    return (
      outcome.settlement !== message.settlement ||
      outcome.price !== message.price ||
      outcome.entries.length > 0
    );
  });
  if (due.length === 0) return money;

  const wallets = new Map<string, LockedWallet>();
  const channelIds = [...new Set(due.map(({ target }) => target.channel_id))];
  for (const wallet of await lockWallets(connection, channelIds)) wallets.set(wallet.channel_id, wallet);

  const entries = new Map<string, LedgerSum>();
  for (const candidate of due) {
    const { target, message } = candidate;
    const wallet = wallets.get(target.channel_id);
    if (wallet === undefined) continue;
    const available = wallet.balance - wallet.reserved;
    const outcome = settle({ ...message, reportedPrice: priceOf(candidate), available });
    money.set(message.id, outcome);
    for (const { kind, amount } of outcome.entries) {
      const reason = kind === 'correction' ? correctionReason(candidate) : undefined;
      add(entries, target, { kind, amount, reason });
    }
    const change = outcome.entries.reduce((sum, { amount }) => sum + amount, 0n);
    wallets.set(target.channel_id, {
      ...wallet,
      balance: wallet.balance + change,
      reserved: wallet.reserved - outcome.released,
    });
  }
  await writeSettlements(connection, [...wallets.values()], [...entries.values()]);
  return money;
}

const unlimited = 2n ** 62n;

function correctionReason({ pricing }: MovedMessage): string {
  if (pricing === null) return 'PRICING';
  return pricing.billable ? `CATEGORY_${pricedCategory(pricing.category)}`.slice(0, 100) : 'NOT_BILLABLE';
}

/** One entry per campaign, kind and reason; a message outside campaigns has entries of its own. */
function add(
  entries: Map<string, LedgerSum>,
  target: StatusTarget,
  { kind, amount, reason }: Pick<NewLedgerEntry, 'kind' | 'amount' | 'reason'>,
): void {
  const messageId = target.kind === 'message' ? target.id : undefined;
  const key = [messageId ?? target.campaign_id, kind, reason, amount > 0n].join(' ');
  const present = entries.get(key);
  entries.set(key, {
    channelId: target.channel_id,
    workspaceId: target.workspace_id,
    campaignId: target.campaign_id,
    messageId,
    kind,
    amount: (present?.amount ?? 0n) + amount,
    messageCount: (present?.messageCount ?? 0) + 1,
    reason,
  });
}

type PriceOf = (moved: MovedMessage) => bigint | null;

/** Converts the provider's pricing to a price of the rate card; null when the card has no such price. */
async function reportedPrices(connection: Connection, moved: readonly MovedMessage[]): Promise<PriceOf> {
  const cards = new Map<number, ReadonlyMap<string, bigint>>();
  const billable = moved.filter(({ pricing }) => pricing?.billable === true);
  for (const workspaceId of new Set(billable.map(({ target }) => target.workspace_id))) {
    const prices = await listPrices(connection, workspaceId);
    cards.set(
      workspaceId,
      new Map(prices.map(({ category, country, price }) => [`${category} ${country}`, price])),
    );
  }
  return ({ pricing, target }) => {
    if (pricing === null) return null;
    if (!pricing.billable) return 0n;
    const card = cards.get(target.workspace_id);
    const category = pricedCategory(pricing.category);
    return card?.get(`${category} ${target.country}`) ?? card?.get(`${category} `) ?? null;
  };
}
