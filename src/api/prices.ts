/** Price cards: the provider's published prices, loaded by an operator. */
import * as t from 'io-ts';
import { buffer } from 'node:stream/consumers';
import { Uuid } from '../codecs/scalars.ts';
import { struct } from '../codecs/struct.ts';
import { LoadedPrices, PriceCard, PriceCardDetail } from '../codecs/wallet.ts';
import { loadPrices, maxPriceFileBytes } from '../commands/wallet/load-prices.ts';
import type { PriceDifference } from '../commands/wallet/price-file.ts';
import { NotFound } from '../domain/error.ts';
import { formatAmount } from '../domain/money.ts';
import {
  findPriceCard,
  listCardMarkets,
  listCardPrices,
  listPriceCards,
  type PriceCardRow,
} from '../records/wallet/price-cards.ts';
import { endpoint } from './frame/endpoint.ts';
import { answer, succeed } from './frame/envelope.ts';

const tag = 'Wallet';

const cardExample = {
  id: '0197c0de-0000-7000-8000-0000000000c1',
  name: null,
  currency: 'USD',
  effective_on: '2026-10-01',
  source: 'USD-2026-10-01.csv',
  sha256: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
  loaded_at: '2026-09-15T09:00:00.000Z',
  loaded_by: 'admin',
};

const presentCard = (card: PriceCardRow) => ({
  id: card.id,
  name: card.name,
  currency: card.currency,
  effective_on: card.effectiveOn,
  source: card.source,
  sha256: card.sha256,
  loaded_at: card.loadedAt,
  loaded_by: card.loadedBy,
});

const amountOrNull = (amount: bigint | null) => (amount === null ? null : formatAmount(amount));

const presentDifference = ({ market, category, before, after }: PriceDifference) => ({
  market,
  category,
  before: amountOrNull(before),
  after: amountOrNull(after),
});

export const listPrices = endpoint(
  {
    method: 'GET',
    path: '/api/prices',
    operationId: 'listPriceCards',
    summary: 'List the price cards',
    description: 'The latest first. The card `example` holds the prices that came with the service.',
    tag,
    access: 'workspace',
    responses: { 200: answer('The price cards', t.readonlyArray(PriceCard), [cardExample]) },
  },
  async ({ dependencies: { database } }) => ({
    status: 200,
    body: succeed((await listPriceCards(database)).map(presentCard)),
  }),
);

export const getPrices = endpoint(
  {
    method: 'GET',
    path: '/api/prices/:id',
    operationId: 'getPriceCard',
    summary: 'Read a price card with its prices and markets',
    tag,
    access: 'workspace',
    params: struct({ id: Uuid }),
    responses: {
      200: answer('The card', PriceCardDetail, {
        ...cardExample,
        prices: [{ market: 'India', category: 'MARKETING', price: '0.0107', tier_from: 0, tier_to: null }],
        markets: [{ country: 'IN', market: 'India' }],
      }),
    },
    errors: [404],
  },
  async ({ dependencies: { database }, params: { id } }) => {
    const card = await findPriceCard(database, id);
    if (card === undefined) throw new NotFound('Price card');
    const [prices, markets] = await Promise.all([
      listCardPrices(database, id),
      listCardMarkets(database, id),
    ]);
    return {
      status: 200,
      body: succeed({
        ...presentCard(card),
        prices: prices.map(({ market, category, price, tierFrom, tierTo }) => ({
          market,
          category,
          price: formatAmount(price),
          tier_from: Number(tierFrom),
          tier_to: tierTo === null ? null : Number(tierTo),
        })),
        markets: markets.map(({ country, market }) => ({ country: country === '' ? null : country, market })),
      }),
    };
  },
);

const text = (description: string) => ({ type: 'string', description });

export const createPrices = endpoint(
  {
    method: 'POST',
    path: '/api/prices',
    operationId: 'loadPriceCard',
    summary: 'Load the provider’s published prices',
    description:
      'Needs an operator’s key. The file as the provider publishes it, in one currency. The card applies from 00:00 of `effective_on` in the time zone of each business account. The same file twice changes nothing; a card is never changed.',
    tag,
    access: 'operator',
    body: 'multipart',
    bodySchema: {
      type: 'object',
      required: ['file', 'currency', 'effective_on'],
      properties: {
        file: { type: 'string', format: 'binary', description: 'The CSV, up to 1 MiB.' },
        currency: text('ISO 4217, such as `EUR`.'),
        effective_on: text('First day on which the prices apply, such as `2026-10-01`.'),
        source: text('Name of the file; default: `upload`.'),
        tiers: text('CSV with the columns market, category, tier_from, tier_to, price.'),
        markets: text('CSV with the columns country and market; replaces the built-in markets.'),
        dry_run: text('`true` loads nothing and returns the differences.'),
        force: text('`true` loads prices that change more than tenfold.'),
      },
    },
    responses: {
      200: answer('Nothing was loaded: a dry run, or the same file again', LoadedPrices, {
        card: null,
        loaded: false,
        differences: [{ market: 'India', category: 'MARKETING', before: '0.0107', after: '0.0118' }],
        warnings: [],
      }),
      201: answer('The card is loaded', LoadedPrices, {
        card: cardExample,
        loaded: true,
        differences: [{ market: 'India', category: 'MARKETING', before: '0.0107', after: '0.0118' }],
        warnings: [],
      }),
    },
  },
  async ({ dependencies, principal, body }) => {
    const fields = new Map<string, string>();
    const file = await body({ field: 'file', maxBytes: maxPriceFileBytes, fields }, (stream) =>
      buffer(stream),
    );
    const bytesOf = (name: string) => {
      const value = fields.get(name) ?? '';
      return value === '' ? undefined : Buffer.from(value);
    };
    const result = await loadPrices(dependencies, {
      file,
      tiers: bytesOf('tiers'),
      markets: bytesOf('markets'),
      currency: fields.get('currency') ?? '',
      effectiveOn: fields.get('effective_on') ?? '',
      source: fields.get('source') ?? 'upload',
      workspaceId: principal.workspaceId,
      loadedBy: principal.keyId,
      dryRun: fields.get('dry_run') === 'true',
      force: fields.get('force') === 'true',
    });
    const data = {
      card: result.card === undefined ? null : presentCard(result.card),
      loaded: result.loaded,
      differences: result.differences.map(presentDifference),
      warnings: result.warnings,
    };
    return result.loaded ? { status: 201, body: succeed(data) } : { status: 200, body: succeed(data) };
  },
);
