/** Cost of a message to its channel's wallet as its state moves. Amounts are integer micro-units. */
import type { RecipientState } from '../campaigns/recipient.ts';

export const settlements = ['none', 'reserved', 'charged', 'refunded'] as const;
export type Settlement = (typeof settlements)[number];

/** The ledger's entries of a charged message add up to `uncollected` − `price`, of any other message to 0. */
export interface MessageMoney {
  readonly settlement: Settlement;
  /** What the message costs, or would cost: a message that was given back may arrive after all. */
  readonly price: bigint;
  /** The part of the price of a charged message that the wallet could not pay. */
  readonly uncollected: bigint;
}

export interface SettlementRequest extends MessageMoney {
  /** The state the message has now. */
  readonly state: RecipientState;
  /** The price that the provider reported; null without a report. */
  readonly reportedPrice: bigint | null;
  /** balance − reserved of the wallet: no entry may take more than that. */
  readonly available: bigint;
}

export interface SettlementEntry {
  readonly kind: 'charge' | 'refund' | 'correction';
  /** Signed, as the ledger has it: a charge is negative. Never 0. */
  readonly amount: bigint;
}

export interface SettlementOutcome extends MessageMoney {
  /** Amount to subtract from the wallet's reserved amount. */
  readonly released: bigint;
  readonly entries: readonly SettlementEntry[];
}

const takenOver: ReadonlySet<RecipientState> = new Set(['ACCEPTED', 'SENT', 'DELIVERED', 'READ']);
const arrived: ReadonlySet<RecipientState> = new Set(['DELIVERED', 'READ']);

/** The settlement that fits the state. Applying it twice changes nothing the second time. */
export function settle(request: SettlementRequest): SettlementOutcome {
  const { state, settlement, reportedPrice } = request;
  if (state === 'FAILED') return priced(giveBack(request), reportedPrice);
  if (!takenOver.has(state)) return unchanged(request);
  if (settlement === 'charged') return correct(request);
  if (settlement === 'reserved') return chargeReserved(request);
  return chargeLate(request);
}

/** What a message that failed, or was not delivered in time, gives back. */
export function giveBack({ settlement, price, uncollected }: MessageMoney): SettlementOutcome {
  if (settlement === 'reserved')
    return { settlement: 'none', price, uncollected: 0n, released: price, entries: [] };
  if (settlement === 'charged')
    return {
      settlement: 'refunded',
      price,
      uncollected: 0n,
      released: 0n,
      entries: entry('refund', price - uncollected),
    };
  return unchanged({ settlement, price, uncollected });
}

const unchanged = ({ settlement, price, uncollected }: MessageMoney): SettlementOutcome => ({
  settlement,
  price,
  uncollected,
  released: 0n,
  entries: [],
});

/** A reported price counts also while nothing is owed, so that the order of statuses does not matter. */
const priced = (outcome: SettlementOutcome, reportedPrice: bigint | null): SettlementOutcome => ({
  ...outcome,
  price: reportedPrice ?? outcome.price,
});

function chargeReserved(request: SettlementRequest): SettlementOutcome {
  const { price } = request;
  // The charge spends the message's own reservation, so as much is available as before.
  const corrected = correct({ ...request, settlement: 'charged' });
  return { ...corrected, released: price, entries: [...entry('charge', -price), ...corrected.entries] };
}

/**
 * A message that was given back, or whose reservation was released, is charged once it has arrived; `sent` alone does not show
 * that. What the wallet cannot pay stays uncollected.
 */
function chargeLate(request: SettlementRequest): SettlementOutcome {
  const price = request.reportedPrice ?? request.price;
  if (!arrived.has(request.state) || price === 0n) return { ...unchanged(request), price };
  const paid = least(price, request.available);
  return {
    settlement: 'charged',
    price,
    uncollected: price - paid,
    released: 0n,
    entries: entry('charge', -paid),
  };
}

function correct({ settlement, price, uncollected, reportedPrice, available }: SettlementRequest) {
  if (reportedPrice === null) return unchanged({ settlement, price, uncollected });
  const more = reportedPrice - price;
  // What was not collected need not be given back.
  const paid = more > 0n ? least(more, available) : more + least(uncollected, -more);
  return {
    settlement,
    price: reportedPrice,
    uncollected: uncollected + more - paid,
    released: 0n,
    entries: entry('correction', -paid),
  };
}

const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);

const entry = (kind: SettlementEntry['kind'], amount: bigint): readonly SettlementEntry[] =>
  amount === 0n ? [] : [{ kind, amount }];

/** How long the provider tries to deliver a message whose template does not say; it drops the message then. */
export const defaultTtlSeconds = (category: string): number =>
  category === 'AUTHENTICATION' ? 10 * 60 : 30 * 24 * 60 * 60;
