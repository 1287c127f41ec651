/** Wallets on the wire: amounts are decimal strings with up to six places. */
import * as t from 'io-ts';
import { differenceCauses, comparisonStates, pricingTypes } from '../domain/wallet/comparison.ts';
import { describe, named } from './json-schema.ts';
import { cursorOf, integerOf, IsoDateTime, textMatching, Uuid } from './scalars.ts';
import { nullish, oneOf, struct } from './struct.ts';

export const Amount = textMatching(
  'Amount',
  /^-?\d+(\.\d{1,6})?$/,
  'must be an amount in a string, such as "20.28"',
  {
    pattern: '^-?\\d+(\\.\\d{1,6})?$',
  },
);

/** Above zero, and small enough for `parseAmount`. */
export const MaxCost = textMatching(
  'MaxCost',
  /^(?!0*(\.0*)?$)\d{1,12}(\.\d{1,6})?$/,
  'must be an amount above 0 in a string, such as "250"',
  { pattern: '^(?!0*(\\.0*)?$)\\d{1,12}(\\.\\d{1,6})?$' },
);

/** `effective_on` is a day; the card applies from 00:00 of it in the time zone of the business account. */
export const CardInForce = named(
  'CardInForce',
  struct({ currency: t.string, effective_on: t.string, source: t.string }),
);

export const Wallet = named(
  'Wallet',
  struct({
    channel_id: Uuid,
    balance: Amount,
    reserved: Amount,
    /** The part of late charges that the balance did not cover; taken first from the next recharge. */
    uncollected: Amount,
    low_balance_threshold: nullish(Amount),
    currency: t.string,
    card: nullish(CardInForce),
    next_card: nullish(CardInForce),
    /** `country` is an ISO 3166 alpha-2 code; null is every other country. */
    message_prices: t.readonlyArray(
      named('MessagePrice', struct({ category: t.string, country: nullish(t.string), price: Amount })),
    ),
  }),
);
export type Wallet = t.TypeOf<typeof Wallet>;

const cardFields = {
  id: Uuid,
  name: nullish(t.string),
  currency: t.string,
  effective_on: t.string,
  source: t.string,
  sha256: t.string,
  loaded_at: IsoDateTime,
  loaded_by: t.string,
};

export const PriceCard = named('PriceCard', struct(cardFields));

const CardPrice = struct({
  market: t.string,
  category: t.string,
  price: Amount,
  tier_from: t.number,
  tier_to: nullish(t.number),
});

export const PriceCardDetail = named(
  'PriceCardDetail',
  struct({
    ...cardFields,
    prices: t.readonlyArray(named('CardPrice', CardPrice)),
    markets: t.readonlyArray(named('CardMarket', struct({ country: nullish(t.string), market: t.string }))),
  }),
);

export const LoadedPrices = named(
  'LoadedPrices',
  struct({
    card: nullish(PriceCard),
    loaded: t.boolean,
    differences: t.readonlyArray(
      named(
        'PriceDifference',
        struct({ market: t.string, category: t.string, before: nullish(Amount), after: nullish(Amount) }),
      ),
    ),
    warnings: t.readonlyArray(t.string),
  }),
);

/** The amount itself is read by `parseAmount`. */
export const SetLowBalance = named(
  'SetLowBalance',
  struct({ threshold: nullish(Amount) }, { channel_id: Uuid }),
);

/** The amount itself is read by `parseAmount`. */
export const RechargeWallet = struct({ channel_id: Uuid, amount: Amount });

/** Cursor of a list with serial ids: the ledger and the audit log. */
export const SerialCursor = cursorOf(struct({ id: integerOf({ min: 1, max: Number.MAX_SAFE_INTEGER }) }));
export const serialCursor = ({ id }: { readonly id: bigint }) => SerialCursor.encode({ id: Number(id) });

export const StatementMonth = textMatching(
  'StatementMonth',
  /^20\d\d-(0[1-9]|1[0-2])$/,
  'must be a month such as 2026-10',
  {
    pattern: '^20\\d\\d-(0[1-9]|1[0-2])$',
  },
);

/** Opening balance and lines add up to the closing balance. */
export const WalletStatement = named(
  'WalletStatement',
  struct({
    channel_id: Uuid,
    month: describe(t.string, { description: 'The month, such as 2026-10.' }),
    time_zone: describe(t.string, {
      description: 'Time zone of the business account, at whose midnight the month begins.',
    }),
    currency: t.string,
    opening_balance: describe(Amount, {
      description: 'Balance at the start of the month, as a decimal string.',
    }),
    closing_balance: describe(Amount, {
      description: 'Balance at the end of the month, or now, as a decimal string.',
    }),
    lines: describe(
      t.readonlyArray(
        named(
          'StatementLine',
          struct({
            kind: describe(
              oneOf(['recharge', 'adjustment', 'charge', 'refund', 'correction'], 'LedgerEntryKind'),
              { description: 'Kind of the entries.' },
            ),
            category: describe(nullish(t.string), {
              description: 'Category of the messages; null for other entries, and if it is not known.',
            }),
            market: describe(nullish(t.string), {
              description:
                'Market of the recipients on the price card that applies at the end of the month; null for other entries, without a published card, and if it is not known.',
            }),
            country: describe(nullish(t.string), {
              description:
                'Country of the recipients (ISO 3166 alpha-2); null if the market has several, for other entries, and if it is not known.',
            }),
            amount: Amount,
          }),
        ),
      ),
      {
        description:
          'Sums of the month’s entries by kind, category and market, or country without a published card.',
      },
    ),
  }),
);
export type WalletStatement = t.TypeOf<typeof WalletStatement>;

const Figures = named(
  'ComparedFigures',
  struct({
    messages: describe(t.number, { description: 'Number of delivered messages.' }),
    cost: describe(Amount, { description: 'Cost of these messages, as a decimal string.' }),
  }),
);

/** What we charged on a day next to what the provider says of it. */
export const ComparisonLine = named(
  'ComparisonLine',
  struct({
    id: t.string,
    channel_id: Uuid,
    day: describe(t.string, {
      description: 'Day of the deliveries in the time zone of the business account, such as 2026-10-31.',
    }),
    state: describe(oneOf(comparisonStates, 'ComparisonState'), {
      description: 'DIFFERENT: the figures differ. NOT_COMPARED: the provider did not give its figures.',
    }),
    category: describe(nullish(t.string), { description: 'Category of the messages; null if not compared.' }),
    country: describe(nullish(t.string), {
      description: 'Country of the recipients (ISO 3166 alpha-2), empty if unknown; null if not compared.',
    }),
    pricing_type: describe(nullish(oneOf(pricingTypes, 'PricingType')), {
      description: 'Whether the messages are billed; null if not compared.',
    }),
    ours: describe(nullish(Figures), {
      description: 'What this service delivered and charged; null if the day was not compared.',
    }),
    theirs: describe(nullish(Figures), {
      description: 'What the provider delivered and billed; null if the day was not compared.',
    }),
    difference: describe(nullish(Amount), {
      description:
        'What was charged too much, as a decimal string; negative if too little. The workspace’s markup on the provider’s prices is no difference. Null if the day was not compared.',
    }),
    likely_cause: describe(nullish(oneOf(differenceCauses, 'DifferenceCause')), {
      description:
        'OTHER_SENDERS: something else sends on the number, too. TIER: a volume tier has lower prices. AUTHENTICATION_INTERNATIONAL: prices of international authentication. MAX_PRICE: a maximum price is set. null: not known.',
    }),
    details: describe(nullish(t.string), { description: 'Why the day was not compared; null if it was.' }),
    compared_at: describe(IsoDateTime, { description: 'Time of the comparison.' }),
    booked_at: describe(nullish(IsoDateTime), {
      description: 'Time at which an operator booked the difference; null before.',
    }),
  }),
);

/** `amount` is signed: a charge is negative. */
export const LedgerEntry = named(
  'LedgerEntry',
  struct({
    id: t.string,
    channel_id: Uuid,
    kind: oneOf(['recharge', 'adjustment', 'charge', 'refund', 'correction'], 'LedgerEntryKind'),
    amount: Amount,
    campaign_id: nullish(Uuid),
    message_id: nullish(Uuid),
    message_count: nullish(t.number),
    reason: nullish(t.string),
    created_at: IsoDateTime,
  }),
);
