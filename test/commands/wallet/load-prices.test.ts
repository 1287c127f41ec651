import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadPrices, requirePrices, setPriceMarkup } from '../../../src/commands/wallet/load-prices.ts';
import { Conflict, Invalid } from '../../../src/domain/error.ts';
import { priceOf } from '../../../src/domain/money.ts';
import { isPhoneNumber, readNumber } from '../../../src/domain/phone-number.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { findCardsOf, listAccountsWithoutPrices } from '../../../src/records/wallet/price-cards.ts';
import { findPrices, listPrices } from '../../../src/records/wallet/wallets.ts';
import { seedCampaign, type SeededCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** A card of three markets; `marketing` is what North America pays for MARKETING. */
const cardOf = (currency: string, marketing: string) =>
  [
    'Market,Currency,Marketing,Utility,Authentication,"Authentication-\nInternational",Service',
    `North America,${currency},${marketing},0.004,0.004,n/a,n/a`,
    `Rest of Latin America,${currency},0.074,0.0113,0.0113,n/a,n/a`,
    `Other,${currency},0.0604,0.0077,0.0077,n/a,n/a`,
  ].join('\n');

const load = (currency: string, effectiveOn: string, marketing: string, rest: object = {}) =>
  loadPrices(
    { database: database.pool },
    {
      file: Buffer.from(cardOf(currency, marketing)),
      currency,
      effectiveOn,
      source: 'card.csv',
      loadedBy: 'admin',
      dryRun: false,
      force: false,
      ...rest,
    },
  );

/** A channel that pays in a currency of its own, so that the tests of this file do not share cards. */
async function channelIn(currency: string, timeZone: string | null = null): Promise<SeededCampaign> {
  const seeded = await seedCampaign(database.pool, { recipients: 1 });
  await database.pool.query(sql.type(nothing)`
    UPDATE wallet SET currency = ${currency} WHERE channel_id = ${seeded.channelId}`);
  await database.pool.query(sql.type(nothing)`
    UPDATE business_account SET time_zone = ${timeZone} WHERE workspace_id = ${seeded.workspaceId}`);
  return seeded;
}

const priceIn = async ({ channelId }: SeededCampaign, country: string): Promise<bigint> =>
  priceOf(await findPrices(database.pool, channelId, 'MARKETING'), country);

/** The first of the day so many days from now, and a card of it that names no market but Other. */
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const otherAlone = (currency: string) =>
  Buffer.from(`Market,Currency,Marketing,Utility\nOther,${currency},0.0604,0.0077\n`);

it('reserves the highest price of both cards for a country that only one of them names', async () => {
  const channel = await channelIn('XHA');
  await load('XHA', '2026-01-01', '0.025');
  await load('XHA', inDays(10), '0.025', { file: otherAlone('XHA') });
  expect(await priceIn(channel, 'US')).toBe(60_400n);
  const short = { ttlSeconds: 3_600 };
  expect(priceOf(await findPrices(database.pool, channel.channelId, 'MARKETING', short), 'US')).toBe(25_000n);
});

it('reserves the price of an announced category that takes effect before the message is dropped', async () => {
  const { channelId } = await channelIn('III');
  await load('III', '2026-01-01', '0.025');
  const at = (days: number, ttlSeconds?: number) => ({
    upcomingCategory: 'MARKETING',
    upcomingCategoryAt: `${inDays(days)}T00:00:00Z`,
    ...(ttlSeconds !== undefined && { ttlSeconds }),
  });
  const inUtility = async (terms: object) =>
    priceOf(await findPrices(database.pool, channelId, 'UTILITY', terms), 'US');
  expect(await inUtility({})).toBe(4_000n);
  expect(await inUtility(at(2))).toBe(25_000n);
  expect(await inUtility(at(2, 43_200))).toBe(4_000n);
  expect(await inUtility(at(40))).toBe(4_000n);
});

it('changes nothing when the same file is loaded twice', async () => {
  const first = await load('AAA', '2026-10-01', '0.025');
  const second = await load('AAA', '2026-10-01', '0.025');
  expect(first).toMatchObject({ loaded: true, warnings: [] });
  expect(second).toMatchObject({ loaded: false, card: { id: first.card?.id }, differences: [] });
});

it('says what rises and falls, and loads nothing, in a dry run', async () => {
  await load('BBB', '2026-07-01', '0.025');
  const dry = await load('BBB', '2026-10-02', '0.03', { dryRun: true });
  expect(dry).toEqual({
    card: undefined,
    loaded: false,
    differences: [{ market: 'North America', category: 'MARKETING', before: 25_000n, after: 30_000n }],
    warnings: ['2026-10-02 is not the first day of a quarter, on which the provider changes its prices'],
  });
  expect(await load('BBB', '2026-10-02', '0.03')).toMatchObject({ loaded: true });
});

it('refuses a price that moves more than tenfold unless it is forced', async () => {
  await load('CCC', '2026-07-01', '0.025');
  await expect(load('CCC', '2026-10-01', '0.26')).rejects.toBeInstanceOf(Invalid);
  expect(await load('CCC', '2026-10-01', '0.26', { force: true })).toMatchObject({ loaded: true });
});

it('lets territories of +1 pay their own market', async () => {
  const channel = await channelIn('DDD');
  await load('DDD', '2026-10-01', '0.025');
  const prices = await Promise.all(
    ['US', 'CA', 'PR', 'DO', 'JM', 'FR'].map((country) => priceIn(channel, country)),
  );
  expect(prices).toEqual([25_000n, 25_000n, 74_000n, 74_000n, 74_000n, 60_400n]);
});

it('tells territories of +7, +44 and +599 from the country with the same code', async () => {
  const rows = [
    'Russia,HHH,0.0802',
    'United Kingdom,HHH,0.0529',
    'Netherlands,HHH,0.1597',
    'Other,HHH,0.0604',
  ];
  const file = ['Market,Currency,Marketing', ...rows].join('\n');
  await load('HHH', '2026-10-01', '', { file: Buffer.from(file) });
  const channel = await channelIn('HHH');
  const priceOfNumber = async (number: string) => {
    const reading = readNumber(number);
    if (!isPhoneNumber(reading)) throw new Error(`${number} is no number`);
    return [reading.country, await priceIn(channel, reading.country)];
  };
  expect(
    await Promise.all(
      ['+79161234567', '+77012345678', '+447400123456', '+447797712345', '+59995181234', '+31612345678'].map(
        priceOfNumber,
      ),
    ),
  ).toEqual([
    ['RU', 80_200n],
    ['KZ', 60_400n],
    ['GB', 52_900n],
    ['JE', 60_400n],
    ['CW', 60_400n],
    ['NL', 159_700n],
  ]);
});

it('begins at midnight in the time zone of the business account', async () => {
  const days = await database.pool.oneFirst(sql.unsafe`
    SELECT ((now() AT TIME ZONE 'Pacific/Kiritimati')::date)::text AS day`);
  // When the day has begun in Kiritimati (UTC+14), it has not in Midway (UTC-11): they are 25 hours apart.
  const [early, late] = [
    await channelIn('EEE', 'Pacific/Kiritimati'),
    await channelIn('EEE', 'Pacific/Midway'),
  ];
  await load('EEE', '2026-01-01', '0.05');
  await load('EEE', String(days), '0.025');
  const now = async ({ channelId }: SeededCampaign) =>
    (await listPrices(database.pool, channelId, ['US'])).find(
      ({ category, country }) => category === 'MARKETING' && country === 'US',
    )?.price;
  expect([await now(early), await now(late)]).toEqual([25_000n, 50_000n]);
  // What is sent in Midway now may be delivered under the next card: the higher price is reserved.
  expect([await priceIn(early, 'US'), await priceIn(late, 'US')]).toEqual([25_000n, 50_000n]);
  const cards = await findCardsOf(database.pool, late.channelId);
  expect([cards.present?.effectiveOn, cards.next?.effectiveOn]).toEqual(['2026-01-01', days]);
});

it('adds what a workspace pays on top, rounded up, from its day on', async () => {
  const channel = await channelIn('FFF');
  await load('FFF', '2026-10-01', '0.025');
  const { workspaceId } = channel;
  const markup = (effectiveOn: string, factor: string, fixed: string) =>
    setPriceMarkup({ database: database.pool }, { workspaceId, effectiveOn, factor, fixed });
  await markup('2026-10-01', '1.150001', '0.001');
  await markup('2999-01-01', '9', '9');
  expect(await priceIn(channel, 'US')).toBe(29_751n);
  expect((await listPrices(database.pool, channel.channelId, ['US'])).map(({ price }) => price)).toContain(
    29_751n,
  );
});

it('stops campaigns in production while only the example is in force, or no card at all', async () => {
  const [dollars, other] = [await channelIn('USD'), await channelIn('GGG')];
  const start = (channel: SeededCampaign, production: boolean, allowExamplePrices = false) =>
    requirePrices({ production, allowExamplePrices }, database.pool, channel.channelId);
  await expect(start(dollars, true)).rejects.toThrow(/ALLOW_EXAMPLE_PRICES=yes/);
  await expect(start(dollars, true, true)).resolves.toBeUndefined();
  await expect(start(dollars, false)).resolves.toBeUndefined();
  await expect(start(other, false)).rejects.toBeInstanceOf(Conflict);
  const missing = await listAccountsWithoutPrices(database.pool, 100);
  expect(missing.map(({ currency }) => currency)).toEqual(expect.arrayContaining(['USD', 'GGG']));
  await load('GGG', '2026-10-01', '0.025');
  await expect(start(other, true)).resolves.toBeUndefined();
});
