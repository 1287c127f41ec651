import { expect, it } from 'vitest';
import { pricingField, readPricingPoints } from '../../src/provider/pricing-analytics.ts';

const body = (points: readonly unknown[]) => ({
  pricing_analytics: { data: [{ data_points: points }] },
  id: '1',
});
const point = {
  start: 1761868800,
  end: 1761955200,
  phone_number: '15550783881',
  country: 'IN',
  tier: '0:750000',
  pricing_type: 'REGULAR',
  pricing_category: 'UTILITY',
  volume: 1200,
  cost: 1.6799999,
};

it('reads volume and cost by number, country, category, type and tier', () => {
  const free = { ...point, pricing_type: 'FREE_CUSTOMER_SERVICE', tier: undefined, cost: 0 };
  const lite = { ...point, pricing_category: 'MARKETING_LITE', phone_number: '+1 555-078-3881' };
  expect(readPricingPoints(body([point, free, lite]))).toEqual([
    {
      phoneNumber: '15550783881',
      country: 'IN',
      category: 'UTILITY',
      type: 'REGULAR',
      tier: '0:750000',
      messages: 1200,
      cost: 1_680_000n,
    },
    expect.objectContaining({ type: 'FREE', tier: null, cost: 0n }),
    expect.objectContaining({ category: 'MARKETING', phoneNumber: '15550783881' }),
  ]);
  expect(readPricingPoints(body([]))).toEqual([]);
});

it.each([
  {},
  'nothing',
  { pricing_analytics: {} },
  { pricing_analytics: { data: [{}] } },
  body([{ ...point, volume: '1200' }]),
  body([point, { ...point, cost: Number.NaN }]),
  body([{ ...point, pricing_category: null }]),
])('reads no part of what it cannot read as a whole: %j', (unreadable) => {
  expect(readPricingPoints(unreadable)).toBeUndefined();
});

it('asks for the days between two instants', () => {
  const field = pricingField(new Date('2026-10-31T00:00:00Z'), new Date('2026-11-01T00:00:00Z'));
  expect(field).toContain('pricing_analytics.start(1793404800).end(1793491200).granularity(DAILY)');
});
