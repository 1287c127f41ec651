import { describe, expect, it } from 'vitest';
import { compareWebhooks, type LoggedDelivery } from '../../../local/rehearsals/chaos/compare-webhooks.ts';

const delivery = (eventId: string, state = 'delivered', errorCode: string | null = null): LoggedDelivery => ({
  eventId,
  state,
  errorCode,
});
const sound = {
  expected: 3,
  deliveries: [delivery('a'), delivery('b', 'failed', 'interrupted'), delivery('c', 'failed', 'interrupted')],
  requests: new Map([
    ['a', 1],
    ['b', 1],
  ]),
};

describe('compareWebhooks', () => {
  it('finds nothing wrong when every delivery has one request or says that it was interrupted', () => {
    expect(compareWebhooks(sound)).toEqual({
      delivered: 1,
      interrupted: 2,
      interruptedAfterReceipt: 1,
      doubled: 0,
      problems: [],
    });
  });

  it.each([
    ['a delivery that is missing', { expected: 4 }, '3 deliveries, not 4'],
    [
      'a request made twice',
      {
        requests: new Map([
          ['a', 2],
          ['b', 1],
        ]),
      },
      '1 events came twice',
    ],
    [
      'a delivery that never came',
      { requests: new Map() },
      '1 deliveries are said to be delivered and never came',
    ],
    [
      'a delivery that is not over',
      { deliveries: [...sound.deliveries.slice(0, 2), delivery('c', 'pending')] },
      '1 deliveries are neither delivered nor interrupted',
    ],
    [
      'a request of nobody',
      {
        requests: new Map([
          ['a', 1],
          ['x', 1],
        ]),
      },
      '1 requests belong to no delivery',
    ],
  ])('notices %s', (_what, change, problem) => {
    expect(compareWebhooks({ ...sound, ...change }).problems).toEqual([problem]);
  });
});
