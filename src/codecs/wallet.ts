/** Wallets on the wire: amounts are decimal strings with up to six places. */
import * as t from 'io-ts';
import { named } from './json-schema.ts';
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

export const Wallet = named(
  'Wallet',
  struct({
    channel_id: Uuid,
    balance: Amount,
    reserved: Amount,
    currency: t.string,
    /** `country` is an ISO 3166 alpha-2 code; null is every other country. */
    message_prices: t.readonlyArray(
      named('MessagePrice', struct({ category: t.string, country: nullish(t.string), price: Amount })),
    ),
  }),
);
export type Wallet = t.TypeOf<typeof Wallet>;

/** The amount itself is read by `parseAmount`. */
export const RechargeWallet = struct({ channel_id: Uuid, amount: Amount });

/** Cursor of a list with serial ids: the ledger and the audit log. */
export const SerialCursor = cursorOf(struct({ id: integerOf({ min: 1, max: Number.MAX_SAFE_INTEGER }) }));
export const serialCursor = ({ id }: { readonly id: bigint }) => SerialCursor.encode({ id: Number(id) });

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
