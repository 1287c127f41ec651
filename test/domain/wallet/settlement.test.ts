import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldStatuses, type ReportedStatus } from '../../../src/domain/callbacks/message-status.ts';
import type { RecipientState } from '../../../src/domain/campaigns/recipient.ts';
import {
  giveBack,
  type MessageMoney,
  settle,
  settlements,
  type SettlementRequest,
} from '../../../src/domain/wallet/settlement.ts';

const request = (overrides: Partial<SettlementRequest>): SettlementRequest => ({
  state: 'SENT',
  settlement: 'charged',
  price: 1000n,
  uncollected: 0n,
  reportedPrice: null,
  available: 10_000n,
  ...overrides,
});

describe('settle', () => {
  it('turns a reservation into a charge when the message went out', () => {
    expect(settle(request({ settlement: 'reserved' }))).toEqual({
      settlement: 'charged',
      price: 1000n,
      uncollected: 0n,
      released: 1000n,
      entries: [{ kind: 'charge', amount: -1000n }],
    });
  });

  it('releases a reservation without an entry when the message failed', () => {
    const outcome = settle(request({ state: 'FAILED', settlement: 'reserved' }));
    expect(outcome).toMatchObject({ settlement: 'none', price: 1000n, released: 1000n, entries: [] });
  });

  it('gives a charge back when the message failed later', () => {
    const outcome = settle(request({ state: 'FAILED' }));
    expect(outcome).toMatchObject({ settlement: 'refunded', entries: [{ kind: 'refund', amount: 1000n }] });
  });

  it('charges again what was given back when the message arrived after all', () => {
    const outcome = settle(request({ state: 'DELIVERED', settlement: 'refunded' }));
    expect(outcome).toMatchObject({
      settlement: 'charged',
      released: 0n,
      entries: [{ kind: 'charge', amount: -1000n }],
    });
  });

  it('does not charge again for sent alone', () => {
    expect(settle(request({ settlement: 'refunded' }))).toMatchObject({
      settlement: 'refunded',
      entries: [],
    });
  });

  it('takes what the wallet has for a late charge, and leaves the rest uncollected', () => {
    const late = request({ state: 'DELIVERED', settlement: 'refunded', available: 400n });
    expect(settle(late)).toMatchObject({
      settlement: 'charged',
      uncollected: 600n,
      entries: [{ kind: 'charge', amount: -400n }],
    });
    expect(settle({ ...late, available: 0n })).toMatchObject({ uncollected: 1000n, entries: [] });
  });

  it('gives back only what was collected', () => {
    const failed = settle(request({ state: 'FAILED', uncollected: 600n }));
    expect(failed).toMatchObject({ uncollected: 0n, entries: [{ kind: 'refund', amount: 400n }] });
    const cheaper = settle(request({ uncollected: 600n, reportedPrice: 300n }));
    expect(cheaper).toMatchObject({ uncollected: 0n, entries: [{ kind: 'correction', amount: 100n }] });
  });

  it('corrects the charge both ways when the provider names another price', () => {
    expect(settle(request({ reportedPrice: 400n }))).toMatchObject({
      price: 400n,
      entries: [{ kind: 'correction', amount: 600n }],
    });
    expect(settle(request({ reportedPrice: 1500n }))).toMatchObject({
      price: 1500n,
      entries: [{ kind: 'correction', amount: -500n }],
    });
  });

  it('takes no more than the wallet has when the provider names a higher price', () => {
    expect(settle(request({ reportedPrice: 1500n, available: 200n }))).toMatchObject({
      price: 1500n,
      uncollected: 300n,
      entries: [{ kind: 'correction', amount: -200n }],
    });
  });

  it('charges and corrects in one go when the first receipt settles a crashed send', () => {
    const outcome = settle(request({ settlement: 'reserved', reportedPrice: 0n, available: 0n }));
    expect(outcome).toMatchObject({ settlement: 'charged', price: 0n, released: 1000n });
    expect(outcome.entries).toEqual([
      { kind: 'charge', amount: -1000n },
      { kind: 'correction', amount: 1000n },
    ]);
  });

  it('changes nothing the second time, never overdraws, and keeps price equal to what was taken', () => {
    const states: RecipientState[] = [
      'PENDING',
      'CLAIMED',
      'ACCEPTED',
      'SENT',
      'DELIVERED',
      'READ',
      'FAILED',
      'UNKNOWN',
    ];
    const requests = fc.record({
      state: fc.constantFrom(...states),
      settlement: fc.constantFrom(...settlements),
      price: fc.bigInt(50n, 100n),
      uncollected: fc.bigInt(0n, 50n),
      reportedPrice: fc.option(fc.bigInt(0n, 100n)),
      available: fc.bigInt(0n, 150n),
    });
    fc.assert(
      fc.property(requests, (drawn) => {
        const given = drawn.settlement === 'charged' ? drawn : { ...drawn, uncollected: 0n };
        const outcome = settle(given);
        const moved = outcome.entries.reduce((sum, { amount }) => sum + amount, 0n);
        const available = given.available + moved + outcome.released;
        expect(available >= 0n).toBe(true);
        const paid = ({ settlement, price, uncollected }: MessageMoney) =>
          settlement === 'charged' ? price - uncollected : 0n;
        expect(paid(outcome) - paid(given)).toBe(-moved);
        expect(outcome.uncollected >= 0n && outcome.uncollected <= outcome.price).toBe(true);
        expect(settle({ ...given, ...outcome, available })).toMatchObject({
          entries: [],
          released: 0n,
          uncollected: outcome.uncollected,
        });
      }),
    );
  });

  interface Message extends MessageMoney {
    readonly state: RecipientState;
    readonly statusesSeen: number;
    readonly paid: bigint;
  }

  const start: Message = {
    state: 'ACCEPTED',
    statusesSeen: 0,
    settlement: 'charged',
    price: 100n,
    uncollected: 0n,
    paid: 100n,
  };
  const prices: Readonly<Record<string, bigint>> = { marketing: 70n, utility: 30n };
  const report = (status: ReportedStatus['status'], pricing: ReportedStatus['pricing']): ReportedStatus => ({
    status,
    pricing,
    failure: null,
  });

  function apply(message: Message, reported: ReportedStatus): Message {
    const outcome = foldStatuses(message, [reported]);
    if (outcome.fresh.length === 0) return message;
    const { pricing, state, statusesSeen } = outcome;
    const reportedPrice = pricing && (pricing.billable ? (prices[pricing.category] ?? null) : 0n);
    const money = settle({ ...message, state, reportedPrice, available: 1_000n });
    return { ...money, state, statusesSeen, paid: paidAfter(message, money.entries) };
  }

  const expire = (message: Message): Message => {
    if (message.state !== 'ACCEPTED' && message.state !== 'SENT') return message;
    const money = giveBack(message);
    return { ...message, ...money, paid: paidAfter(message, money.entries) };
  };

  const paidAfter = ({ paid }: Message, entries: readonly { readonly amount: bigint }[]) =>
    entries.reduce((sum, { amount }) => sum - amount, paid);

  it('costs the same whatever the order of statuses, repetitions and the end of the time to live', () => {
    const pricing = fc.constantFrom(
      null,
      { billable: true, category: 'marketing' },
      { billable: true, category: 'utility' },
      { billable: false, category: 'marketing' },
    );
    const stated = fc.tuple(pricing, pricing, pricing, fc.boolean(), fc.nat());
    fc.assert(
      fc.property(stated, ([ofSent, ofDelivered, ofRead, fails, seed]) => {
        const statuses = [
          report('sent', ofSent),
          report('delivered', ofDelivered),
          report('read', ofRead),
          ...(fails ? [report('failed', null)] : []),
        ];
        const inOrder = statuses.reduce(apply, start);
        const shuffled = [...statuses, ...statuses]
          .map((one, at) => ({ one, key: (seed * (at + 3) * 7919) % 104_729 }))
          .toSorted((one, other) => one.key - other.key)
          .map(({ one }) => one);
        const expiresAt = seed % (shuffled.length + 1);
        const other = shuffled.reduce(
          (message, one, at) => apply(at === expiresAt ? expire(message) : message, one),
          start,
        );
        expect(other).toMatchObject({ state: inOrder.state, price: inOrder.price, paid: inOrder.paid });
        expect(other.paid).toBe(other.price);
      }),
    );
  });

  it('costs nothing while it has not arrived, once its time to live is over', () => {
    const sent = apply(expire(start), report('sent', { billable: true, category: 'marketing' }));
    expect(sent).toMatchObject({ settlement: 'refunded', paid: 0n });
    expect(apply(sent, report('delivered', null))).toMatchObject({ settlement: 'charged', paid: 70n });
  });
});
