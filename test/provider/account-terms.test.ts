import { expect, it } from 'vitest';
import { readAccountTerms } from '../../src/provider/account-terms.ts';

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
