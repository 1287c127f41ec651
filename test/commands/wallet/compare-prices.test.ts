import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPricingAnalytics } from '../../../local/simulator/pricing-analytics.ts';
import {
  bookDifference,
  compareAccount,
  compareDueAccounts,
} from '../../../src/commands/wallet/compare-prices.ts';
import { loadPrices, setPriceMarkup } from '../../../src/commands/wallet/load-prices.ts';
import { Conflict } from '../../../src/domain/error.ts';
import { readPricingPoints, pricingField } from '../../../src/provider/pricing-analytics.ts';
import {
  type MessagingProvider,
  type PricingPoint,
  ProviderRequestError,
} from '../../../src/provider/provider.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { listBookDifferences } from '../../../src/records/operations/books.ts';
import { claimBatch } from '../../../src/records/sending/claim-batch.ts';
import { recordOutcomes } from '../../../src/records/sending/outcomes.ts';
import { findPrices } from '../../../src/records/wallet/wallets.ts';
import { createApplier, deliver, messagesCallback, rowsOf, status } from '../../support/callback-fixtures.ts';
import { anyTokens, seedCampaign, type SeededCampaign, testSecrets } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { createFakeProvider } from '../../support/fake-provider.ts';
import { outcomesOf } from '../../support/outcomes.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const run = (statement: ReturnType<typeof sql.fragment>) =>
  database.owner.query(sql.type(nothing)`${statement}`);

const dayMs = 24 * 60 * 60 * 1_000;
const daysAgo = (days: number): string => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);

type ReadPricing = MessagingProvider['readPricing'];

const comparer = (readPricing: ReadPricing) => ({
  database: database.pool,
  provider: { ...createFakeProvider(), readPricing },
  secrets: testSecrets,
  logger: createApplier(database.pool).logger,
});

const countries = ['DE', 'IN', 'US'];

/** A campaign of recipients in three countries, all accepted 40 days ago at the prices of the channel. */
async function sent(recipients: number, currency = 'USD'): Promise<SeededCampaign> {
  const seeded = await seedCampaign(database.pool, { recipients });
  await run(sql.fragment`UPDATE wallet SET currency = ${currency} WHERE channel_id = ${seeded.channelId}`);
  await run(sql.fragment`
    UPDATE recipient SET country = (${sql.array(countries, 'text')})[1 + position % 3] WHERE campaign_id = ${seeded.campaignId}`);
  await run(sql.fragment`INSERT INTO rate_card (workspace_id, category, country, price)
    SELECT ${seeded.workspaceId}, 'UTILITY', country, 1000 FROM unnest(${sql.array(['IN', 'US'], 'text')}) AS country`);
  const claimId = randomUUID();
  const claim = await claimBatch(database.pool, {
    ...anyTokens,
    ...seeded,
    claimId,
    epoch: 0,
    limit: recipients,
    prices: await findPrices(database.pool, seeded.channelId, 'UTILITY'),
  });
  if (claim.kind !== 'batch') throw new Error(claim.kind);
  const accepted = claim.recipients.map(
    ({ position }) =>
      [position, { kind: 'accepted', providerMessageId: `wamid.${seeded.campaignId}.${position}` }] as const,
  );
  await recordOutcomes(database.pool, { ...seeded, outcomes: outcomesOf(claimId, new Map(accepted)) });
  await run(sql.fragment`
    UPDATE recipient SET accepted_at = accepted_at - interval '40 days' WHERE campaign_id = ${seeded.campaignId}`);
  return seeded;
}

const recipientsOf = ({ campaignId }: SeededCampaign) =>
  rowsOf<{ id: string; position: number; country: string; price: number }>(
    database.pool,
    sql.fragment`SELECT id, position, country, price FROM recipient WHERE campaign_id = ${campaignId} ORDER BY position`,
  );

interface Reported {
  readonly position: number;
  readonly name: string;
  readonly day: string;
  readonly pricing?: { readonly type?: string; readonly billable?: boolean; readonly category: string };
}

async function report(seeded: SeededCampaign, reported: readonly Reported[]): Promise<void> {
  const recipients = await recipientsOf(seeded);
  const statuses = reported.map(({ position, name, day, pricing }) => ({
    ...status({
      status: name,
      providerMessageId: `wamid.${seeded.campaignId}.${position}`,
      callbackData: recipients[position - 1]?.id ?? '',
      ...(pricing !== undefined && { pricing }),
    }),
    timestamp: String(Date.parse(`${day}T12:00:00Z`) / 1_000),
  }));
  await deliver(createApplier(database.pool), [messagesCallback(seeded.channelId, { statuses })]);
  // The statuses came in time.
  const came = reported.map(({ position, day }) => [position, `${day}T12:00:00Z`]);
  await run(sql.fragment`
    UPDATE recipient SET delivered_at = least(delivered_at, came.at), read_at = least(read_at, came.at)
    FROM ${sql.unnest(came, ['int4', 'timestamptz'])} AS came (position, at)
    WHERE campaign_id = ${seeded.campaignId} AND recipient.position = came.position`);
}

const accountOf = async ({ channelId }: SeededCampaign): Promise<string> =>
  (
    await rowsOf<{ id: string }>(
      database.pool,
      sql.fragment`SELECT business_account_id AS id FROM channel WHERE id = ${channelId}`,
    )
  )[0]?.id ?? '';

const linesOf = ({ channelId }: SeededCampaign) =>
  rowsOf<{ state: string; day: string; cause: string | null; difference: number; category: string | null }>(
    database.pool,
    sql.fragment`SELECT state, day, cause, difference, category FROM price_comparison WHERE channel_id = ${channelId} ORDER BY id`,
  );

const daysOf = ({ channelId }: SeededCampaign) =>
  rowsOf<{
    day: string;
    category: string;
    country: string;
    is_free: boolean;
    messages: number;
    cost: number;
  }>(
    database.pool,
    sql.fragment`SELECT day, category, country, is_free, messages, cost FROM delivery_day
      WHERE channel_id = ${channelId} AND (messages <> 0 OR cost <> 0) ORDER BY day, category, country, is_free`,
  );

const regular = (category: string) => ({ type: 'regular', category });

it('adds up what was delivered by day, category, country and type, each message once', async () => {
  const seeded = await sent(4);
  const [first, second] = [daysAgo(5), daysAgo(2)];
  await report(seeded, [
    { position: 1, name: 'sent', day: first, pricing: regular('utility') },
    { position: 1, name: 'delivered', day: first, pricing: regular('utility') },
    { position: 2, name: 'read', day: second },
    {
      position: 3,
      name: 'delivered',
      day: first,
      pricing: { type: 'free_entry_point', category: 'utility' },
    },
    { position: 4, name: 'sent', day: first, pricing: regular('utility') },
  ]);
  await report(seeded, [
    { position: 1, name: 'delivered', day: second, pricing: regular('utility') },
    { position: 1, name: 'read', day: second },
  ]);
  const utility = { category: 'UTILITY', is_free: false, messages: 1, cost: 1_000 };
  expect(await daysOf(seeded)).toEqual([
    { ...utility, day: first, country: 'DE', is_free: true, cost: 0 },
    { ...utility, day: first, country: 'IN' },
    { ...utility, day: second, country: 'US' },
  ]);
  // The delivery of a message that was read comes late, and says that it was marketing.
  await report(seeded, [{ position: 2, name: 'delivered', day: second, pricing: regular('marketing') }]);
  expect((await daysOf(seeded)).at(-1)).toMatchObject({ category: 'MARKETING', country: 'US', messages: 1 });
  expect(await daysOf(seeded)).toHaveLength(3);
});

const point = (over: Partial<PricingPoint>): PricingPoint => ({
  phoneNumber: '15550100000',
  category: 'UTILITY',
  country: 'IN',
  type: 'REGULAR',
  tier: '0:MAX',
  messages: 0,
  cost: 0n,
  ...over,
});

it('shows a difference, tells it once, and books it once', async () => {
  const seeded = await sent(12);
  const account = await accountOf(seeded);
  const day = daysAgo(3);
  await report(
    seeded,
    Array.from({ length: 12 }, (_, at) => ({
      position: at + 1,
      name: 'delivered',
      day,
      pricing: regular('utility'),
    })),
  );
  const tiered = countries.map((country) =>
    point({ country, messages: 4, cost: 3_200n, tier: country === 'IN' ? '3:MAX' : '0:3' }),
  );
  const asked: string[] = [];
  const readTiered: ReadPricing = ({ businessAccountId, from, to }) => {
    asked.push(from.toISOString().slice(0, 10));
    expect(to.getTime() - from.getTime()).toBe(dayMs);
    return Promise.resolve(businessAccountId === account && from.toISOString().startsWith(day) ? tiered : []);
  };
  await run(sql.fragment`UPDATE business_account SET compared_on = now()::date + 1 WHERE id <> ${account}`);
  await run(
    sql.fragment`UPDATE business_account SET time_zone = 'UTC', compared_on = NULL WHERE id = ${account}`,
  );
  const night = new Date().getUTCHours() < 3;
  await (night
    ? compareAccount(comparer(readTiered), account, day)
    : compareDueAccounts(comparer(readTiered)));
  if (!night) {
    expect(asked).toEqual([day, daysAgo(1)]);
    expect(await compareDueAccounts(comparer(readTiered))).toMatchObject({ accounts: 0 });
  }
  const different = { state: 'DIFFERENT', day, difference: 800, category: 'UTILITY' };
  expect((await linesOf(seeded)).map(({ cause }) => cause).toSorted()).toEqual(['TIER', null, null]);
  expect(await linesOf(seeded)).toMatchObject([different, different, different]);
  await compareAccount(comparer(readTiered), account, day);
  const notices = sql.fragment`SELECT kind, message FROM notice WHERE workspace_id = ${seeded.workspaceId}`;
  expect(await rowsOf(database.pool, notices)).toEqual([
    { kind: 'price_difference', message: expect.stringContaining('we charged 0.0024 USD more') },
  ]);
  const book = (cause?: string) =>
    bookDifference(
      { database: database.pool },
      { ...seeded, month: day.slice(0, 7), reason: 'Invoice', cause },
    );
  expect(await book('TIER')).toEqual({ amount: 800n, differences: 1 });
  expect(await book()).toEqual({ amount: 1_600n, differences: 2 });
  expect(await book()).toEqual({ amount: 0n, differences: 0 });
  // What is booked stays, whatever the provider says later.
  await compareAccount(
    comparer(() => Promise.resolve([])),
    account,
    day,
  );
  expect(await book()).toEqual({ amount: 0n, differences: 0 });
  expect(await listBookDifferences(database.pool)).toEqual([]);
});

it('books nothing that the balance does not cover', async () => {
  const seeded = await seedCampaign(database.pool, { recipients: 1, balance: 100n });
  const day = daysAgo(3);
  await compareAccount(
    comparer(() => Promise.resolve([point({ messages: 9, cost: 9_000n })])),
    await accountOf(seeded),
    day,
  );
  expect(await linesOf(seeded)).toMatchObject([{ cause: 'OTHER_SENDERS', difference: -9_000 }]);
  const request = { ...seeded, month: day.slice(0, 7), reason: 'Invoice' };
  await expect(bookDifference({ database: database.pool }, request)).rejects.toBeInstanceOf(Conflict);
  expect(await linesOf(seeded)).toHaveLength(1);
  expect(await listBookDifferences(database.pool)).toEqual([]);
});

it('does not book the provisional figures of the day before', async () => {
  const seeded = await seedCampaign(database.pool, { recipients: 1 });
  const day = daysAgo(1);
  await compareAccount(
    comparer(() => Promise.resolve([point({ messages: 9, cost: 9_000n })])),
    await accountOf(seeded),
    day,
  );
  expect(await linesOf(seeded)).toHaveLength(1);
  const request = { ...seeded, month: day.slice(0, 7), reason: 'Invoice' };
  expect(await bookDifference({ database: database.pool }, request)).toMatchObject({ differences: 0 });
});

it('takes no figures at all for unknown, not for zero, and keeps what was found before', async () => {
  const seeded = await sent(3);
  const account = await accountOf(seeded);
  const day = daysAgo(1);
  await report(seeded, [{ position: 1, name: 'delivered', day, pricing: regular('utility') }]);
  const empty = comparer(() => Promise.resolve([]));
  await compareAccount(empty, account, day);
  expect(await linesOf(seeded)).toMatchObject([{ state: 'NOT_COMPARED' }]);
  await compareAccount(
    comparer(() => Promise.resolve([point({ messages: 99, cost: 9_000n })])),
    account,
    day,
  );
  const found = await linesOf(seeded);
  expect(found).not.toMatchObject([{ state: 'NOT_COMPARED' }]);
  await compareAccount(empty, account, day);
  expect(await linesOf(seeded)).toEqual(found);
});

it('says that a day was not compared, and compares it once the provider answers', async () => {
  const seeded = await sent(3);
  const account = await accountOf(seeded);
  const day = daysAgo(1);
  const refusing =
    (httpStatus: number): ReadPricing =>
    () =>
      Promise.reject(
        new ProviderRequestError({
          kind: 'rejected',
          code: httpStatus === 429 ? 4 : 200,
          httpStatus,
          message: 'No',
          details: null,
          isTransient: false,
        }),
      );
  expect(await compareAccount(comparer(refusing(429)), account, day)).toMatchObject({ problem: 'later' });
  expect(await linesOf(seeded)).toMatchObject([{ state: 'NOT_COMPARED', category: null }]);
  expect(await compareAccount(comparer(refusing(403)), account, day)).toMatchObject({ problem: 'refused' });
  expect(await linesOf(seeded)).toHaveLength(1);
  await compareAccount(
    comparer(() => Promise.resolve([])),
    account,
    day,
  );
  expect(await linesOf(seeded)).toEqual([]);
  await run(sql.fragment`UPDATE business_account SET currency = 'EUR' WHERE id = ${account}`);
  await compareAccount(
    comparer(() => Promise.resolve([])),
    account,
    day,
  );
  expect(await linesOf(seeded)).toMatchObject([{ state: 'NOT_COMPARED' }]);
});

const cardText = (utility: string, marketing: string, currency: string) =>
  [
    'Market,Currency,Marketing,Utility,Authentication,Service',
    `India,${currency},0.0107,${utility},0.0014,n/a`,
    `Other,${currency},${marketing},0.02,0.02,n/a`,
  ].join('\n');

async function loadCard(currency: string, effectiveOn: string, utility: string, marketing: string) {
  await loadPrices(
    { database: database.pool },
    {
      file: Buffer.from(cardText(utility, marketing, currency)),
      currency,
      effectiveOn,
      source: 'card.csv',
      loadedBy: 'admin',
      dryRun: false,
      force: true,
    },
  );
}

/** What the simulated provider bills, read as the service reads it. */
const readFrom =
  (analytics: ReturnType<typeof createPricingAnalytics>, account: string): ReadPricing =>
  ({ from, to }) => {
    const field = pricingField(from, to);
    const figures = analytics.read({ id: account, displayNumberOf: () => '15550100000' }, field);
    return Promise.resolve(readPricingPoints({ pricing_analytics: figures }) ?? []);
  };

const changeDay = daysAgo(15);
const eventsOfMonth = fc.array(
  fc.record({
    position: fc.integer({ min: 1, max: 60 }),
    day: fc.integer({ min: 2, max: 30 }),
    category: fc.constantFrom('utility', 'marketing'),
    order: fc.shuffledSubarray(['sent', 'delivered', 'read'], { minLength: 2 }),
  }),
  { minLength: 30, maxLength: 45 },
);

it('agrees with the provider in a month of random deliveries and a change of prices, and finds its tiers', async () => {
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(eventsOfMonth, async (events) => {
      runs += 1;
      const currency = `M${String.fromCodePoint(65 + runs)}A`;
      await loadCard(currency, daysAgo(100), '0.0014', '0.05');
      await loadCard(currency, changeDay, '0.0020', '0.07');
      const seeded = await sent(60, currency);
      const account = await accountOf(seeded);
      const analytics = createPricingAnalytics();
      const known = new Set<number>();
      const rounds: Reported[][] = [];
      for (const { position, day, category, order } of events) {
        if (known.has(position)) continue;
        known.add(position);
        const on = daysAgo(day);
        const to = ['4915112345678', '919812345678', '12125550123'][position % 3] ?? '';
        analytics.delivered({
          at: Date.parse(`${on}T12:00:00Z`),
          businessAccountId: account,
          phoneNumberId: seeded.channelId,
          to,
          category,
        });
        for (const [at, name] of order.entries())
          (rounds[at] ??= []).push({
            position,
            name,
            day: on,
            ...((name !== 'read' || !order.includes('delivered')) && { pricing: regular(category) }),
          });
      }
      for (const round of rounds) await report(seeded, round);
      const readPricing: ReadPricing = (query) => {
        const isNew = query.from.toISOString().slice(0, 10) >= changeDay;
        analytics.configure({
          prices: [
            { category: 'MARKETING', country: 'IN', price: 0.0107 },
            { category: 'UTILITY', country: 'IN', price: isNew ? 0.002 : 0.0014 },
            { category: 'MARKETING', country: '', price: isNew ? 0.07 : 0.05 },
            { category: 'UTILITY', country: '', price: 0.02 },
          ],
        });
        return readFrom(analytics, account)(query);
      };
      const compareAll = async () => {
        for (let day = 30; day >= 2; day -= 1)
          await compareAccount(comparer(readPricing), account, daysAgo(day));
      };
      await compareAll();
      expect(await linesOf(seeded)).toEqual([]);
      const delivered = (await daysOf(seeded)).reduce((sum, { messages }) => sum + messages, 0);
      expect(delivered).toBe(known.size);
      analytics.configure({ tierFrom: 1, tierFactor: 0.5 });
      await compareAll();
      const causes = (await linesOf(seeded)).map(({ cause, category }) => `${category} ${cause}`);
      expect(new Set(causes)).toEqual(new Set(['UTILITY TIER']));
      expect(await listBookDifferences(database.pool)).toEqual([]);
    }),
    { numRuns: 2, endOnFailure: true },
  );
});

it('takes no markup for a difference', async () => {
  const seeded = await seedCampaign(database.pool, { recipients: 3 });
  await setPriceMarkup(
    { database: database.pool },
    { workspaceId: seeded.workspaceId, effectiveOn: '2020-01-01', factor: '1.5', fixed: '0.0001' },
  );
  await run(sql.fragment`
    INSERT INTO delivery_day (channel_id, day, category, country, is_free, messages, cost)
    VALUES (${seeded.channelId}, ${daysAgo(1)}::date, 'UTILITY', 'IN', false, 100, 160000)`);
  const bill: ReadPricing = () => Promise.resolve([point({ messages: 100, cost: 100_000n })]);
  expect(await compareAccount(comparer(bill), await accountOf(seeded), daysAgo(1))).toMatchObject({
    differences: 0,
  });
});

it('prices a message by the day of its delivery when the price comes with its reading', async () => {
  await loadCard('RDD', daysAgo(100), '0.0014', '0.05');
  const seeded = await sent(3, 'RDD');
  await report(seeded, [{ position: 1, name: 'delivered', day: daysAgo(20) }]);
  await loadCard('RDD', daysAgo(10), '0.0100', '0.05');
  await report(seeded, [{ position: 1, name: 'read', day: daysAgo(2), pricing: regular('utility') }]);
  expect((await recipientsOf(seeded))[0]?.price).toBe(1_400);
});
