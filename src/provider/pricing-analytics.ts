import { pricedCategory } from '../domain/callbacks/message-status.ts';
import { isObject, type PricingPoint } from './provider.ts';

/** The field of a business account that holds its delivered messages and their cost by day. */
export const pricingField = (from: Date, to: Date): string =>
  `pricing_analytics.start(${seconds(from)}).end(${seconds(to)}).granularity(DAILY).metric_types(COST,VOLUME)` +
  '.dimensions(PHONE,COUNTRY,PRICING_CATEGORY,PRICING_TYPE,TIER)';

const seconds = (at: Date): number => Math.floor(at.getTime() / 1_000);

/** Undefined if the body has no such figures, or one that cannot be read: a part of them would look like a difference. */
export function readPricingPoints(body: unknown): readonly PricingPoint[] | undefined {
  const analytics = isObject(body) ? body['pricing_analytics'] : undefined;
  const data = isObject(analytics) ? analytics['data'] : undefined;
  if (!Array.isArray(data)) return undefined;
  const points: PricingPoint[] = [];
  for (const part of data as readonly unknown[]) {
    const found = isObject(part) ? part['data_points'] : undefined;
    if (!Array.isArray(found)) return undefined;
    for (const element of found as readonly unknown[]) {
      const point = readPoint(element);
      if (point === undefined) return undefined;
      points.push(point);
    }
  }
  return points;
}

function readPoint(element: unknown): PricingPoint | undefined {
  if (!isObject(element)) return undefined;
  const { phone_number: number, country, pricing_category: category, pricing_type: type } = element;
  const { volume = 0, cost = 0, tier } = element;
  if (typeof category !== 'string' || typeof volume !== 'number' || typeof cost !== 'number')
    return undefined;
  if (!Number.isFinite(volume) || !Number.isFinite(cost) || Math.abs(cost) > 1e9) return undefined;
  return {
    phoneNumber: String(typeof number === 'number' || typeof number === 'string' ? number : '').replaceAll(
      /\D/g,
      '',
    ),
    country: typeof country === 'string' ? country.toUpperCase() : '',
    category: pricedCategory(category),
    type: typeof type === 'string' && type.toUpperCase().startsWith('FREE') ? 'FREE' : 'REGULAR',
    tier: typeof tier === 'string' ? tier : null,
    messages: Math.round(volume),
    cost: BigInt(Math.round(cost * 1_000_000)),
  };
}
