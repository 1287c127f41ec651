/** Cost of a message to its channel's wallet as its state moves. Amounts are integer micro-units. */
import type { RecipientState } from '../campaigns/recipient.ts';

export const settlements = ['none', 'reserved', 'charged', 'refunded'] as const;
export type Settlement = (typeof settlements)[number];

export interface MessageMoney {
  readonly settlement: Settlement;
  readonly price: bigint;
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

/** The settlement that fits the state. Applying it twice changes nothing the second time. */
export function settle(request: SettlementRequest): SettlementOutcome {
  if (request.state === 'FAILED') return giveBack(request);
  if (!takenOver.has(request.state)) return unchanged(request);
  return correct(request, charge(request));
}

const unchanged = ({ settlement, price }: MessageMoney): SettlementOutcome => ({
  settlement,
  price,
  released: 0n,
  entries: [],
});

function giveBack({ settlement, price }: MessageMoney): SettlementOutcome {
  if (settlement === 'reserved') return { settlement: 'none', price, released: price, entries: [] };
  if (settlement === 'charged') {
    return { settlement: 'refunded', price, released: 0n, entries: entry('refund', price) };
  }
  return unchanged({ settlement, price });
}

/**
 * An UNKNOWN message whose reservation was released is charged when a receipt shows its arrival, as far as the balance
 * allows.
 */
function charge({ settlement, price, available }: SettlementRequest): SettlementOutcome {
  if (settlement === 'reserved') {
    return { settlement: 'charged', price, released: price, entries: entry('charge', -price) };
  }
  if (settlement === 'charged' || price === 0n || price > available) return unchanged({ settlement, price });
  return { settlement: 'charged', price, released: 0n, entries: entry('charge', -price) };
}

function correct(
  { reportedPrice, available }: SettlementRequest,
  charged: SettlementOutcome,
): SettlementOutcome {
  const { settlement, price, released, entries } = charged;
  if (settlement !== 'charged' || reportedPrice === null || reportedPrice === price) return charged;
  // A charge spends the message's own reservation; without one it lowers what is available.
  const spent = released === 0n ? -entries.reduce((sum, { amount }) => sum + amount, 0n) : 0n;
  const left = available - spent;
  const wanted = price - reportedPrice;
  const amount = wanted < -left ? -left : wanted;
  return {
    settlement,
    price: price - amount,
    released,
    entries: [...entries, ...entry('correction', amount)],
  };
}

const entry = (kind: SettlementEntry['kind'], amount: bigint): readonly SettlementEntry[] =>
  amount === 0n ? [] : [{ kind, amount }];
