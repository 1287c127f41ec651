import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RecipientState } from '../../../src/domain/campaigns/recipient.ts';
import { settle, settlements, type SettlementRequest } from '../../../src/domain/wallet/settlement.ts';

const request = (overrides: Partial<SettlementRequest>): SettlementRequest => ({
  state: 'SENT',
  settlement: 'charged',
  price: 1000n,
  reportedPrice: null,
  available: 10_000n,
  ...overrides,
});

describe('settle', () => {
  it('turns a reservation into a charge when the message went out', () => {
    expect(settle(request({ settlement: 'reserved' }))).toEqual({
      settlement: 'charged',
      price: 1000n,
      released: 1000n,
      entries: [{ kind: 'charge', amount: -1000n }],
    });
  });

  it('releases a reservation without an entry when the message failed', () => {
    const outcome = settle(request({ state: 'FAILED', settlement: 'reserved' }));
    expect(outcome).toEqual({ settlement: 'none', price: 1000n, released: 1000n, entries: [] });
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

  it('leaves a refund alone when the wallet cannot pay any more', () => {
    const outcome = settle(request({ state: 'DELIVERED', settlement: 'refunded', available: 999n }));
    expect(outcome).toMatchObject({ settlement: 'refunded', entries: [] });
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
      price: 1200n,
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
      price: fc.bigInt(0n, 100n),
      reportedPrice: fc.option(fc.bigInt(0n, 100n)),
      available: fc.bigInt(0n, 150n),
    });
    fc.assert(
      fc.property(requests, (given) => {
        const outcome = settle(given);
        const moved = outcome.entries.reduce((sum, { amount }) => sum + amount, 0n);
        const available = given.available + moved + outcome.released;
        expect(available >= 0n).toBe(true);
        const held = ({ settlement, price }: { settlement: string; price: bigint }) =>
          settlement === 'charged' ? price : 0n;
        expect(held(outcome) - held(given)).toBe(-moved);
        const again = settle({ ...given, ...outcome, available });
        if (available >= 100n || given.reportedPrice === null) expect(again.entries).toEqual([]);
        expect(again.released).toBe(0n);
      }),
    );
  });
});
