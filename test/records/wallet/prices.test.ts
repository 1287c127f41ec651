/** `priceOf` and the SQL of `priceIn` give the same price for a message, also where a card has none. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { priceOf } from '../../../src/domain/money.ts';
import { nothing, row } from '../../../src/records/database/row.ts';
import { findPrices, priceIn } from '../../../src/records/wallet/wallets.ts';
import { seedCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
let channelId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  channelId = (await seedCampaign(database.pool, { recipients: 1 })).channelId;
});
afterAll(() => database.drop());

const Price = row(t.type({ price: t.bigint }));
const insert = (category: string, country: string, price: number) =>
  database.owner.query(sql.type(nothing)`
    INSERT INTO rate_card (workspace_id, category, country, price) VALUES (NULL, ${category}, ${country}, ${price})`);

it.each([
  ['no price at all', [], 0n, 0n],
  ['a price for one country alone', [['UTILITY', 'DE', 5]], 0n, 0n],
  ['a price of marketing alone', [['MARKETING', '', 7]], 7n, 7n],
  ['a price for other countries', [['UTILITY', '', 3]], 3n, 3n],
  [
    'a price for the country and one for others',
    [
      ['UTILITY', 'DE', 5],
      ['UTILITY', '', 3],
    ],
    5n,
    3n,
  ],
] as const)('with %s', async (_, card, ofGermany, elsewhere) => {
  await database.owner.query(sql.type(nothing)`DELETE FROM rate_card`);
  for (const [category, country, price] of card) await insert(category, country, price);
  const prices = await findPrices(database.pool, channelId, 'UTILITY');
  for (const [country, wanted] of [
    ['DE', ofGermany],
    ['FR', elsewhere],
  ] as const) {
    expect(priceOf(prices, country)).toBe(wanted);
    const { price } = await database.pool.one(sql.type(Price)`
      SELECT ${priceIn(prices, sql.fragment`country`)} AS price FROM (VALUES (${country}::text)) AS given (country)`);
    expect(price).toBe(wanted);
  }
});
