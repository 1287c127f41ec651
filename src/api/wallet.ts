/** The wallet of a sending channel. */
import { describe } from '../codecs/json-schema.ts';
import { limitUpTo, Uuid } from '../codecs/scalars.ts';
import { oneOf, optional } from '../codecs/struct.ts';
import {
  ComparisonLine,
  LedgerEntry,
  RechargeWallet,
  SerialCursor,
  serialCursor,
  SetLowBalance,
  StatementMonth,
  Wallet,
  WalletStatement,
} from '../codecs/wallet.ts';
import * as commands from '../commands/wallet/change-wallet.ts';
import { setLowBalanceThreshold } from '../commands/wallet/watch-wallets.ts';
import type { Principal } from '../domain/workspaces/api-key.ts';
import { Invalid, NotFound } from '../domain/error.ts';
import { formatAmount } from '../domain/money.ts';
import type { Connection } from '../records/database/database.ts';
import { findCardsOf, type PriceCardRow } from '../records/wallet/price-cards.ts';
import * as records from '../records/wallet/wallets.ts';
import { type ComparisonRow, listComparison } from '../records/wallet/comparison.ts';
import { readStatement } from '../records/wallet/statement.ts';
import { wantsCsv } from './frame/csv.ts';
import { endpoint } from './frame/endpoint.ts';
import { answer, answerWith, cutPage, oneCursorPage, succeed, succeedWith } from './frame/envelope.ts';

const tag = 'Wallet';

const walletExample = {
  channel_id: '0197c0de-0000-7000-8000-0000000000b1',
  balance: '97.5',
  reserved: '1.25',
  uncollected: '0',
  low_balance_threshold: '10',
  currency: 'USD',
  card: { currency: 'USD', effective_on: '2026-10-01', source: 'USD-2026-10-01.csv' },
  next_card: null,
  message_prices: [
    { category: 'MARKETING', country: null, price: '0.05' },
    { category: 'MARKETING', country: 'DE', price: '0.1365' },
  ],
};

export const getWallet = endpoint(
  {
    method: 'GET',
    path: '/api/wallet',
    operationId: 'getWallet',
    summary: 'Read the wallet of a channel',
    description:
      '`balance` − `reserved` can be spent. Default channel: the key’s, or the only one of the workspace.',
    tag,
    access: 'workspace',
    query: optional({ channel_id: Uuid }),
    responses: { 200: answer('The wallet', Wallet, walletExample) },
    errors: [404],
  },
  async ({ dependencies: { database }, principal, query }) => {
    const wallet = await chooseWallet(database, principal, query.channel_id);
    return { status: 200, body: succeed(await present(database, wallet)) };
  },
);

async function chooseWallet(
  connection: Connection,
  { workspaceId, channelId: own }: Principal,
  given: string | undefined,
): Promise<records.Wallet> {
  const channelId = given ?? own;
  if (channelId !== null) return records.getWallet(connection, workspaceId, channelId);
  const [only, ...others] = await records.listWallets(connection, workspaceId);
  if (only === undefined) throw new NotFound('Channel');
  if (others.length > 0) throw Invalid.at('channel_id', 'channel_id is required: see GET /api/channels');
  return only;
}

async function present(
  connection: Connection,
  { channelId, balance, reserved, uncollected, currency, lowBalanceThreshold }: records.Wallet,
): Promise<Wallet> {
  const [prices, { present: card, next }] = await Promise.all([
    records.listPrices(connection, channelId),
    findCardsOf(connection, channelId),
  ]);
  const elsewhere = new Map(
    prices.filter(({ country }) => country === '').map((one) => [one.category, one.price]),
  );
  return {
    channel_id: channelId,
    balance: formatAmount(balance),
    reserved: formatAmount(reserved),
    uncollected: formatAmount(uncollected),
    low_balance_threshold: lowBalanceThreshold === null ? null : formatAmount(lowBalanceThreshold),
    currency,
    card: inForce(card),
    next_card: inForce(next),
    message_prices: prices
      // Prices that are the same in every country are listed once.
      .filter(({ category, country, price }) => country === '' || price !== elsewhere.get(category))
      .map(({ category, country, price }) => ({
        category,
        country: country === '' ? null : country,
        price: formatAmount(price),
      })),
  };
}

const inForce = (card: PriceCardRow | undefined) =>
  card === undefined
    ? null
    : { currency: card.currency, effective_on: card.effectiveOn, source: card.source };

export const rechargeWallet = endpoint(
  {
    method: 'POST',
    path: '/api/wallet/recharge',
    operationId: 'rechargeWallet',
    summary: 'Add money to the wallet of a channel',
    description:
      'Needs an operator’s key. Repeating the Idempotency-Key adds nothing. `POST /api/campaigns/{id}/start` resumes campaigns paused with INSUFFICIENT_BALANCE.',
    tag,
    access: 'operator',
    idempotent: true,
    body: RechargeWallet,
    bodyExample: { channel_id: walletExample.channel_id, amount: '50' },
    responses: {
      200: answerWith('Wallet after the recharge', 'Wallet recharged successfully', Wallet, walletExample),
    },
    errors: [404],
  },
  async ({ dependencies, principal: { workspaceId }, body, request: { idempotency } }) => {
    const { database } = dependencies;
    const { channel_id: channelId, amount } = body;
    const { storeAnswer } = idempotency;
    const answerFrom = async (connection: Connection) => {
      const wallet = await records.getWallet(connection, workspaceId, channelId);
      const data = await present(connection, wallet);
      return { status: 200, body: succeedWith('Wallet recharged successfully', data) } as const;
    };
    const onPosted: Parameters<typeof commands.rechargeWallet>[2] =
      storeAnswer && (async (transaction) => storeAnswer(transaction, await answerFrom(transaction)));
    await commands.rechargeWallet(dependencies, { workspaceId, channelId, amount }, onPosted);
    return answerFrom(database);
  },
);

const thresholdSaved = 'Low balance saved successfully';

export const putLowBalance = endpoint(
  {
    method: 'PUT',
    path: '/api/wallet/low-balance',
    operationId: 'putLowBalance',
    summary: 'Set the amount below which a balance is low',
    description:
      'When `balance` − `reserved` falls below `threshold`, within a minute a notice (`low_balance`) says so, once until it has risen again. null: no notice. Default channel: the key’s, or the only one of the workspace.',
    tag,
    access: 'workspace',
    body: SetLowBalance,
    bodyExample: { threshold: '10' },
    responses: { 200: answerWith('The wallet', thresholdSaved, Wallet, walletExample) },
    errors: [404],
  },
  async ({ dependencies, principal, body: { channel_id: given, threshold } }) => {
    const { workspaceId } = principal;
    const { channelId } = await chooseWallet(dependencies.database, principal, given);
    await setLowBalanceThreshold(dependencies, workspaceId, { channelId, threshold });
    const wallet = await records.getWallet(dependencies.database, workspaceId, channelId);
    return { status: 200, body: succeedWith(thresholdSaved, await present(dependencies.database, wallet)) };
  },
);

export const listWalletEntries = endpoint(
  {
    method: 'GET',
    path: '/api/wallet/entries',
    operationId: 'listWalletEntries',
    summary: 'List the ledger of a channel',
    description:
      'Newest first; the balance is the sum of all entries. Default channel: the key’s, or the only one of the workspace.',
    tag,
    access: 'workspace',
    query: optional({ channel_id: Uuid, cursor: SerialCursor, limit: limitUpTo(1000) }),
    responses: {
      200: oneCursorPage('One page of the ledger', LedgerEntry, {
        id: '42',
        channel_id: walletExample.channel_id,
        kind: 'charge',
        amount: '-12.5',
        campaign_id: '0197c0de-0000-7000-8000-0000000000f1',
        message_id: null,
        message_count: 250,
        reason: null,
        created_at: '2026-11-21T09:00:00.000Z',
      }),
    },
    errors: [404],
  },
  async ({ dependencies: { database }, principal, query }) => {
    const { channelId } = await chooseWallet(database, principal, query.channel_id);
    const limit = query.limit ?? 100;
    const before = query.cursor === undefined ? undefined : BigInt(query.cursor.id);
    const found = await records.listLedgerEntries(database, channelId, { before, limit: limit + 1 });
    const presentEntry = (entry: records.LedgerEntry) => ({
      id: String(entry.id),
      channel_id: entry.channelId,
      kind: entry.kind,
      amount: formatAmount(entry.amount),
      campaign_id: entry.campaignId,
      message_id: entry.messageId,
      message_count: entry.messageCount,
      reason: entry.reason,
      created_at: entry.createdAt,
    });
    return { status: 200, body: cutPage(found, limit, { cursor: serialCursor, present: presentEntry }) };
  },
);

export const listWalletComparison = endpoint(
  {
    method: 'GET',
    path: '/api/wallet/comparison',
    operationId: 'listWalletComparison',
    summary: 'List where charges differ from the provider’s figures',
    description:
      'Each night the deliveries of yesterday and of three days ago are compared with the provider’s figures. A line differs if the counts differ by more than 0.5 % and 3 messages, or the cost by more than 1 %. Each difference is a row and a notice (`price_difference`); nothing is booked. The latest comparison first. Default channel: the key’s, or the only one of the workspace.',
    tag,
    access: 'workspace',
    query: optional({ channel_id: Uuid, cursor: SerialCursor, limit: limitUpTo(1000) }),
    responses: {
      200: oneCursorPage('One page of differences', ComparisonLine, {
        id: '7',
        channel_id: walletExample.channel_id,
        day: '2026-10-31',
        state: 'DIFFERENT',
        category: 'UTILITY',
        country: 'IN',
        pricing_type: 'REGULAR',
        ours: { messages: 120000, cost: '168' },
        theirs: { messages: 120000, cost: '160.8' },
        difference: '7.2',
        likely_cause: 'TIER',
        details: null,
        compared_at: '2026-11-01T03:10:00.000Z',
        booked_at: null,
      }),
    },
    errors: [404],
  },
  async ({ dependencies: { database }, principal, query }) => {
    const { channelId } = await chooseWallet(database, principal, query.channel_id);
    const limit = query.limit ?? 100;
    const before = query.cursor === undefined ? undefined : BigInt(query.cursor.id);
    const found = await listComparison(database, channelId, { before, limit: limit + 1 });
    return { status: 200, body: cutPage(found, limit, { cursor: serialCursor, present: presentComparison }) };
  },
);

const presentComparison = (line: ComparisonRow) => ({
  id: String(line.id),
  channel_id: line.channelId,
  day: line.day,
  state: line.state,
  category: line.category,
  country: line.country,
  pricing_type: line.pricingType,
  ours: figuresOf(line.ourMessages, line.ourCost),
  theirs: figuresOf(line.theirMessages, line.theirCost),
  difference: line.difference === null ? null : formatAmount(line.difference),
  likely_cause: line.cause,
  details: line.details,
  compared_at: line.comparedAt,
  booked_at: line.bookedAt,
});

const figuresOf = (messages: bigint | null, cost: bigint | null) =>
  messages === null || cost === null ? null : { messages: Number(messages), cost: formatAmount(cost) };

const statementExample = {
  channel_id: walletExample.channel_id,
  month: '2026-10',
  time_zone: 'Asia/Kolkata',
  currency: 'USD',
  opening_balance: '12.5',
  closing_balance: '97.5',
  lines: [
    { kind: 'recharge', category: null, market: null, country: null, amount: '100' },
    { kind: 'charge', category: 'MARKETING', market: 'Germany', country: 'DE', amount: '-15.75' },
    { kind: 'charge', category: 'MARKETING', market: 'Other', country: null, amount: '-0.5' },
    { kind: 'refund', category: 'MARKETING', market: 'Germany', country: 'DE', amount: '1.25' },
  ],
} as const;

export const getWalletStatement = endpoint(
  {
    method: 'GET',
    path: '/api/wallet/statement',
    operationId: 'getWalletStatement',
    summary: 'Read the statement of a month',
    description:
      'Opening balance, the month’s entries by kind, category and market, and closing balance; they add up exactly. `Accept: text/csv` or `format=csv` returns it as CSV. Default channel: the key’s, or the only one of the workspace.',
    tag,
    access: 'workspace',
    query: optional({
      month: describe(StatementMonth, {
        description: 'Month in the time zone of the business account; default the present one of UTC.',
      }),
      channel_id: Uuid,
      format: describe(oneOf(['csv'], 'StatementFormat'), {
        description: '`csv` returns a CSV file, as `Accept: text/csv` does; useful for links.',
      }),
    }),
    responses: {
      200: {
        ...answer('The statement', WalletStatement, statementExample),
        content: { 'text/csv': { type: 'string' } },
      },
    },
    errors: [404],
  },
  async ({ dependencies: { database, now }, principal, query, request }) => {
    const month = query.month ?? now().toISOString().slice(0, 7);
    const { channelId, currency } = await chooseWallet(database, principal, query.channel_id);
    const { timeZone, opening, closing, lines } = await readStatement(database, channelId, `${month}-01`);
    const statement: WalletStatement = {
      channel_id: channelId,
      month,
      time_zone: timeZone,
      currency,
      opening_balance: formatAmount(opening),
      closing_balance: formatAmount(closing),
      lines: lines.map((line) => ({ ...line, amount: formatAmount(line.amount) })),
    };
    if (query.format !== 'csv' && !wantsCsv(request)) return { status: 200, body: succeed(statement) };
    return {
      status: 200,
      content: csvOf(statement),
      contentType: 'text/csv; charset=utf-8',
      headers: { 'content-disposition': `attachment; filename="statement-${month}.csv"` },
    };
  },
);

/** Without quotes: amounts are numbers, categories and countries one word, markets without commas. */
function csvOf({ currency, opening_balance: opening, closing_balance: closing, lines }: WalletStatement) {
  const word = (text: string | null) => (text ?? '').replaceAll(/\W/g, '_');
  const rows = [
    ['opening_balance', '', '', '', opening],
    ...lines.map(({ kind, category, market, country, amount }) => [
      kind,
      word(category),
      // Not read as a formula, and in one cell.
      (market ?? '').replaceAll(/[^\p{L}\p{N}&(). -]|^[^\p{L}\p{N}]+/gu, ''),
      word(country),
      amount,
    ]),
    ['closing_balance', '', '', '', closing],
  ];
  return ['kind,category,market,country,amount,currency', ...rows.map((row) => [...row, currency].join(','))]
    .map((line) => `${line}\n`)
    .join('');
}
