/** What the provider bills: delivered messages by quarter of an hour, priced when they are asked for. */
import { isPhoneNumber, readNumber } from '../../src/domain/phone-number.ts';
import { GraphError } from './protocol/graph-error.ts';
import { listOf, objectOf, textOf, type JsonObject } from './protocol/json-value.ts';

export interface PricingAnalytics {
  delivered(message: DeliveredMessage): void;
  /** Sets prices and tiers from now on, for what was delivered before as well. */
  configure(input: JsonObject): PricingSettings;
  /** The value of the field `pricing_analytics` with these arguments. */
  read(account: PricedAccount, field: string): object;
  reset(): void;
}

interface DeliveredMessage {
  readonly at: number;
  readonly businessAccountId: string;
  readonly phoneNumberId: string;
  /** Digits, or the user id of a person without a known number, which begins with the country. */
  readonly to: string;
  readonly category: string;
}

interface PricedAccount {
  readonly id: string;
  readonly displayNumberOf: (phoneNumberId: string) => string;
}

interface PricingSettings {
  /** Units of the account's currency; country '' is every other country. */
  readonly prices: readonly { readonly category: string; readonly country: string; readonly price: number }[];
  /** Messages of a month, account, country and category after which a message of utility or authentication is cheaper. */
  readonly tierFrom: number;
  readonly tierFactor: number;
}

const usual: PricingSettings = {
  prices: [
    ['MARKETING', '', 0.05],
    ['UTILITY', '', 0.02],
    ['AUTHENTICATION', '', 0.02],
    ['MARKETING', 'IN', 0.0107],
    ['UTILITY', 'IN', 0.0014],
    ['AUTHENTICATION', 'IN', 0.0014],
    ['MARKETING', 'US', 0.025],
    ['UTILITY', 'US', 0.004],
    ['AUTHENTICATION', 'US', 0.004],
    ['MARKETING', 'BR', 0.0625],
    ['UTILITY', 'BR', 0.0068],
    ['AUTHENTICATION', 'BR', 0.0068],
    ['MARKETING', 'DE', 0.1365],
    ['UTILITY', 'DE', 0.055],
    ['AUTHENTICATION', 'DE', 0.055],
  ].map(([category, country, price]) => ({
    category: String(category),
    country: String(country),
    price: Number(price),
  })),
  tierFrom: 100_000,
  tierFactor: 0.95,
};

interface Bucket extends Omit<DeliveredMessage, 'to'> {
  readonly country: string;
  count: number;
}

const bucketMs = 15 * 60 * 1000;
const dayMs = 24 * 60 * 60 * 1000;
/** Digits that decide the country of a number. */
const prefixLength = 7;

export function createPricingAnalytics(): PricingAnalytics {
  let settings = usual;
  const buckets = new Map<string, Bucket>();
  const countries = new Map<string, string>();

  const countryOf = (to: string): string => {
    if (/^[A-Z]{2}\./.test(to)) return to.slice(0, 2);
    const prefix = to.slice(0, prefixLength);
    const known = countries.get(prefix);
    if (known !== undefined) return known;
    const reading = readNumber(`+${to}`);
    const country = isPhoneNumber(reading) ? reading.country : '';
    countries.set(prefix, country);
    return country;
  };

  return {
    delivered: ({ to, ...message }) => {
      const at = Math.floor(message.at / bucketMs) * bucketMs;
      const category = message.category.toUpperCase();
      const country = countryOf(to);
      const key = [at, message.phoneNumberId, country, category].join(' ');
      const bucket = buckets.get(key) ?? { ...message, at, category, country, count: 0 };
      buckets.set(key, bucket);
      bucket.count += 1;
    },
    configure: (input) => {
      settings = {
        prices:
          input['prices'] === undefined
            ? settings.prices
            : listOf(input['prices'])
                .map(objectOf)
                .map((price) => ({
                  category: textOf(price['category']),
                  country: textOf(price['country']),
                  price: Number(price['price']),
                })),
        tierFrom: Number(input['tierFrom'] ?? settings.tierFrom),
        tierFactor: Number(input['tierFactor'] ?? settings.tierFactor),
      };
      return settings;
    },
    read: (account, field) => {
      const span = spanOf(field);
      const own = [...buckets.values()].filter(({ businessAccountId }) => businessAccountId === account.id);
      return { data: [{ data_points: pointsOf(own, { settings, span, account }) }] };
    },
    reset: () => {
      settings = usual;
      buckets.clear();
    },
  };
}

interface Span {
  /** Epoch milliseconds. */
  readonly start: number;
  readonly end: number;
}

function spanOf(field: string): Span {
  const argument = (name: string): string => new RegExp(`\\.${name}\\(([^)]*)\\)`).exec(field)?.[1] ?? '';
  const [start, end] = [Number(argument('start')), Number(argument('end'))];
  if (!(start > 0) || !(end > start)) throw new GraphError(100, 'Param start and end must be a span of time');
  if (argument('granularity') !== 'DAILY')
    throw new GraphError(100, 'The simulator answers granularity(DAILY) only');
  return { start: start * 1000, end: end * 1000 };
}

/** One for each day, number, country, category and tier. */
function pointsOf(
  buckets: readonly Bucket[],
  {
    settings,
    span,
    account,
  }: { readonly settings: PricingSettings; readonly span: Span; readonly account: PricedAccount },
): readonly object[] {
  const reached = new Map<string, number>();
  const points = new Map<string, { volume: number; cost: number } & JsonObject>();
  for (const bucket of buckets.toSorted((one, other) => one.at - other.at)) {
    const { at, country, category, phoneNumberId, count } = bucket;
    const month = new Date(at).toISOString().slice(0, 7);
    const counter = `${month} ${country} ${category}`;
    const before = reached.get(counter) ?? 0;
    reached.set(counter, before + count);
    if (at < span.start || at >= span.end) continue;
    const isTiered = category !== 'MARKETING';
    const first = isTiered ? Math.min(count, Math.max(0, settings.tierFrom - before)) : count;
    const price = priceOf(settings, category, country);
    const parts = [
      { tier: isTiered ? `0:${settings.tierFrom}` : '0:MAX', volume: first, price },
      { tier: `${settings.tierFrom}:MAX`, volume: count - first, price: price * settings.tierFactor },
    ];
    const start = span.start + Math.floor((at - span.start) / dayMs) * dayMs;
    for (const part of parts) {
      if (part.volume === 0) continue;
      const key = [start, phoneNumberId, country, category, part.tier].join(' ');
      const point = points.get(key) ?? {
        start: start / 1000,
        end: Math.min(start + dayMs, span.end) / 1000,
        phone_number: account.displayNumberOf(phoneNumberId),
        country,
        tier: part.tier,
        pricing_type: 'REGULAR',
        pricing_category: category,
        volume: 0,
        cost: 0,
      };
      points.set(key, point);
      point.volume += part.volume;
      point.cost += part.volume * part.price;
    }
  }
  return [...points.values()];
}

function priceOf({ prices }: PricingSettings, category: string, country: string): number {
  const find = (wanted: string) =>
    prices.find((price) => price.category === category && price.country === wanted)?.price;
  return find(country) ?? find('') ?? 0;
}
