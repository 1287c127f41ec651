import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  billableOf,
  foldStatuses,
  pricedCategory,
  type ReportedStatus,
} from '../../../src/domain/callbacks/message-status.ts';
import type { ProviderStatus, RecipientState } from '../../../src/domain/campaigns/recipient.ts';

const names = ['sent', 'delivered', 'read', 'failed'] as const;

const reported = (status: ProviderStatus): ReportedStatus => ({
  status,
  failure: status === 'failed' ? { code: 131026, details: 'undeliverable' } : null,
  pricing: null,
});

const fold = (state: RecipientState, statuses: readonly ProviderStatus[]) =>
  foldStatuses({ state, statusesSeen: 0 }, statuses.map(reported));

/** Any of the statuses, each at least once, in any order and with repetitions. */
const statusSequence = fc
  .subarray([...names], { minLength: 1 })
  .chain((set) => fc.tuple(fc.constant(set), fc.array(fc.constantFrom(...set), { maxLength: 6 })))
  .chain(([set, again]) =>
    fc.tuple(fc.constant(set), shuffled([...set, ...again]), shuffled([...set, ...again])),
  );

const shuffled = (list: readonly ProviderStatus[]) =>
  fc.shuffledSubarray([...list], { minLength: list.length, maxLength: list.length });

describe('foldStatuses', () => {
  it('ends in the same state, and reports each status as new once, whatever the order and the repetitions', () => {
    fc.assert(
      fc.property(
        statusSequence,
        fc.constantFrom<RecipientState>('CLAIMED', 'UNKNOWN', 'ACCEPTED'),
        ([set, one, other], state) => {
          const first = fold(state, one);
          const second = fold(state, other);
          expect(first.state).toBe(second.state);
          expect(first.statusesSeen).toBe(second.statusesSeen);
          expect(first.fresh.map(({ status }) => status).toSorted()).toEqual(set.toSorted());
        },
      ),
    );
  });

  it('ends the same when the statuses come one by one as when they come together', () => {
    fc.assert(
      fc.property(statusSequence, ([, order]) => {
        let progress: { state: RecipientState; statusesSeen: number } = {
          state: 'ACCEPTED',
          statusesSeen: 0,
        };
        for (const status of order) progress = foldStatuses(progress, [reported(status)]);
        const together = fold('ACCEPTED', order);
        expect(progress.state).toBe(together.state);
        expect(progress.statusesSeen).toBe(together.statusesSeen);
      }),
    );
  });

  it.each<[readonly ProviderStatus[], RecipientState]>([
    [['sent'], 'SENT'],
    [['read'], 'READ'],
    [['delivered', 'sent'], 'DELIVERED'],
    [['read', 'delivered', 'delivered'], 'READ'],
    [['sent', 'failed'], 'FAILED'],
    [['failed', 'sent'], 'FAILED'],
    [['delivered', 'failed'], 'DELIVERED'],
    [['failed', 'delivered'], 'DELIVERED'],
  ])('moves an accepted message with %j to %s', (statuses, state) => {
    expect(fold('ACCEPTED', statuses).state).toBe(state);
  });

  it('returns the failure reason only while the message is FAILED', () => {
    expect(fold('ACCEPTED', ['failed']).failure).toEqual({ code: 131026, details: 'undeliverable' });
    expect(fold('ACCEPTED', ['failed', 'delivered']).failure).toBeNull();
    expect(fold('READ', ['failed']).failure).toBeNull();
  });

  it('keeps the next attempt of a recipient whose rejection is repeated by a status', () => {
    expect(fold('PENDING', ['failed']).state).toBe('PENDING');
    expect(fold('PENDING', ['sent']).state).toBe('SENT');
  });

  it.each<RecipientState>(['SKIPPED', 'CANCELLED'])('changes no recipient that is %s', (state) => {
    expect(fold(state, ['sent', 'failed', 'read']).state).toBe(state);
  });
});

describe('billableOf', () => {
  it.each([
    ['regular', true, true],
    ['regular', false, true],
    ['regular', undefined, true],
    ['free_customer_service', true, false],
    ['free_customer_service', false, false],
    ['free_customer_service', undefined, false],
    ['free_entry_point', true, false],
    ['free_entry_point', false, false],
    ['free_entry_point', undefined, false],
    [undefined, true, true],
    [undefined, false, false],
    [undefined, undefined, undefined],
    ['a type of next year', false, false],
  ])('of type %s and billable %s is %s', (type, billable, wanted) => {
    expect(billableOf({ type, billable })).toBe(wanted);
  });
});

describe('the price that statuses state', () => {
  const stating = (status: ProviderStatus): ReportedStatus => ({
    ...reported(status),
    pricing: { billable: true, category: status },
  });

  it('is that of the furthest status, whatever the order in which they come', () => {
    fc.assert(
      fc.property(statusSequence, ([set, order]) => {
        let progress: { state: RecipientState; statusesSeen: number } = {
          state: 'ACCEPTED',
          statusesSeen: 0,
        };
        let price: string | undefined;
        for (const status of order) {
          const outcome = foldStatuses(progress, [stating(status)]);
          price = outcome.pricing?.category ?? price;
          progress = outcome;
        }
        const together = foldStatuses({ state: 'ACCEPTED', statusesSeen: 0 }, order.map(stating));
        expect(price).toBe((['read', 'delivered', 'sent'] as const).find((status) => set.includes(status)));
        expect(together.pricing?.category).toBe(price);
      }),
    );
  });
});

describe('pricedCategory', () => {
  it.each([
    ['marketing', 'MARKETING'],
    ['authentication-international', 'AUTHENTICATION_INTERNATIONAL'],
    ['marketing_lite', 'MARKETING'],
    ['service', 'SERVICE'],
  ])('prices %s as %s', (category, priced) => {
    expect(pricedCategory(category)).toBe(priced);
  });
});
