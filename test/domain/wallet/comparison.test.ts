import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareFigures, type Figure, type ProviderFigure } from '../../../src/domain/wallet/comparison.ts';

const ours = (messages: number, cost: bigint, over: Partial<Figure> = {}): Figure => ({
  category: 'UTILITY',
  country: 'IN',
  type: 'REGULAR',
  messages,
  cost,
  ...over,
});
const theirs = (messages: number, cost: bigint, over: Partial<ProviderFigure> = {}): ProviderFigure => ({
  ...ours(messages, cost),
  tier: '0:750000',
  ...over,
});
const causes = (mine: readonly Figure[], provider: readonly ProviderFigure[]) =>
  compareFigures(mine, provider).map(({ cause, difference }) => [cause, difference]);

describe('compareFigures', () => {
  it('agrees within 3 messages or 0.5 %, and within 1 % of the cost', () => {
    expect(causes([ours(100, 100_000n)], [theirs(103, 103_000n)])).toEqual([]);
    expect(causes([ours(10_000, 10_000_000n)], [theirs(10_050, 10_050_000n)])).toEqual([]);
    expect(causes([ours(100, 100_000n)], [theirs(100, 100_900n)])).toEqual([]);
    expect(causes([ours(100, 100_000n)], [theirs(104, 104_000n)])).toHaveLength(1);
    expect(causes([ours(100, 100_000n)], [theirs(100, 98_000n)])).toHaveLength(1);
  });

  it('sums the tiers of a line, and names the tier as the cause of a lower bill', () => {
    const tiers = [theirs(600, 600_000n, { tier: '0:600' }), theirs(400, 320_000n, { tier: '600:MAX' })];
    expect(compareFigures([ours(1_000, 1_000_000n)], tiers)).toEqual([
      {
        category: 'UTILITY',
        country: 'IN',
        type: 'REGULAR',
        ours: { messages: 1_000, cost: 1_000_000n },
        theirs: { messages: 1_000, cost: 920_000n },
        difference: 80_000n,
        cause: 'TIER',
      },
    ]);
  });

  it('names other senders, international authentication and a maximum price', () => {
    expect(causes([], [theirs(50, 50_000n)])).toEqual([['OTHER_SENDERS', -50_000n]]);
    const local = { category: 'AUTHENTICATION' };
    const abroad = { category: 'AUTHENTICATION_INTERNATIONAL' };
    expect(causes([ours(50, 5_000n, local)], [theirs(50, 500_000n, abroad)])).toEqual([
      ['AUTHENTICATION_INTERNATIONAL', 5_000n],
      ['AUTHENTICATION_INTERNATIONAL', -500_000n],
    ]);
    const marketing = { category: 'MARKETING', tier: '0:MAX' };
    expect(causes([ours(50, 5_000n, marketing)], [theirs(50, 4_000n, marketing)])).toEqual([
      ['MAX_PRICE', 1_000n],
    ]);
    expect(causes([ours(50, 5_000n)], [])).toEqual([[null, 5_000n]]);
  });

  it('leaves out categories that this service never sends', () => {
    expect(causes([], [theirs(900, 900_000n, { category: 'SERVICE' })])).toEqual([]);
  });

  it('takes no markup of the workspace for a difference', () => {
    const markup = { factor: 1_150_000n, fixed: 100n };
    expect(compareFigures([ours(1_000, 1_250_000n)], [theirs(1_000, 1_000_000n)], markup)).toEqual([]);
    const free = [theirs(1_000, 0n, { type: 'FREE', tier: null })];
    expect(compareFigures([ours(1_000, 0n, { type: 'FREE' })], free, markup)).toEqual([]);
  });

  it('finds nothing in equal figures, however they are split into tiers', () => {
    const part = fc.record({
      category: fc.constantFrom('MARKETING', 'UTILITY', 'AUTHENTICATION'),
      country: fc.constantFrom('IN', 'DE', ''),
      messages: fc.integer({ min: 0, max: 10_000 }),
      price: fc.bigInt(0n, 100_000n),
    });
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const figures = parts.map(({ price, messages, ...line }) =>
          ours(messages, price * BigInt(messages), line),
        );
        const same = figures.map((figure, at) => ({ ...figure, tier: `${at * 100}:MAX` }));
        expect(compareFigures(figures, same)).toEqual([]);
      }),
    );
  });
});
