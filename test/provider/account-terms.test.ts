import { expect, it } from 'vitest';
import { messagingLimitOf, readAccountTerms, readNumberHealth } from '../../src/provider/account-terms.ts';

it.each([
  [
    { currency: 'EUR', timezone_id: '47' },
    { currency: 'EUR', timeZone: 'Europe/Berlin' },
  ],
  [
    { currency: 'INR', timezone_id: 71 },
    { currency: 'INR', timeZone: 'Asia/Kolkata' },
  ],
  [
    { currency: 'USD', timezone_id: 'America/Sao_Paulo' },
    { currency: 'USD', timeZone: 'America/Sao_Paulo' },
  ],
  [
    { currency: 'usd', timezone_id: '9999' },
    { currency: null, timeZone: null },
  ],
  [
    { currency: 7, timezone_id: 'Nowhere/Land' },
    { currency: null, timeZone: null },
  ],
  ['nothing', { currency: null, timeZone: null }],
])('reads the currency and the time zone of %j', (body, wanted) => {
  expect(readAccountTerms(body)).toEqual(wanted);
});

it('knows every time zone that the provider numbers', () => {
  const zones = Array.from({ length: 142 }, (_, at) => readAccountTerms({ timezone_id: at + 1 }).timeZone);
  expect(zones).not.toContain(null);
});

it('reads the portfolio that owns the account', () => {
  expect(readAccountTerms({ owner_business_info: { name: 'Acme', id: '4711' } }).portfolioId).toBe('4711');
  for (const owner of [undefined, null, {}, { id: 'x' }, 'x'])
    expect(readAccountTerms({ owner_business_info: owner }).portfolioId).toBeUndefined();
});

it.each([
  ['TIER_250', 250],
  ['TIER_2K', 2_000],
  ['TIER_100K', 100_000],
  ['2000', 2_000],
  [10_000, 10_000],
  ['UNLIMITED', null],
  ['TIER_UNLIMITED', null],
  [-1, null],
  ['-1', null],
  ['TIER_NOT_SET', undefined],
  [0, undefined],
  [2 ** 40, undefined],
  [{}, undefined],
  [undefined, undefined],
])('reads the messaging limit %j as %j', (given, limit) => {
  expect(messagingLimitOf(given)).toBe(limit);
});

it('reads whether a number may send, and what hinders it', () => {
  const entities = [
    {
      entity_type: 'WABA',
      id: '1',
      can_send_message: 'BLOCKED',
      errors: [
        {
          error_code: 141006,
          error_description: 'There is an error with the payment method.',
          possible_solution: 'Add a payment method.',
        },
      ],
    },
    { entity_type: 'BUSINESS', can_send_message: 'LIMITED', additional_info: ['Not verified.', 7] },
  ];
  expect(
    readNumberHealth({
      quality_rating: 'RED',
      health_status: { can_send_message: 'BLOCKED', entities },
      whatsapp_business_manager_messaging_limit: 'TIER_2K',
    }),
  ).toEqual({
    canSend: 'BLOCKED',
    details: 'There is an error with the payment method. (141006) Add a payment method. Not verified.',
    quality: 'LOW',
    messagingLimit: 2_000,
  });
  const nothingSaid = { canSend: null, details: null, quality: null, messagingLimit: undefined };
  for (const body of [null, {}, [], { quality_rating: 'UNKNOWN', health_status: { entities: [null, 'x'] } }])
    expect(readNumberHealth(body)).toEqual(nothingSaid);
});
