/** What was delivered on each day, and how it differs from the provider's figures. Amounts are micro-units. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import {
  comparisonStates,
  differenceCauses,
  type Figure,
  type FigureDifference,
  pricingTypes,
} from '../../domain/wallet/comparison.ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';

/** A change of what was delivered in a quarter of an hour. */
export interface Delivered {
  readonly channelId: string;
  readonly at: Date;
  /** Null: the category of the template. */
  readonly category: string | null;
  readonly templateId: string | null;
  readonly country: string;
  readonly isFree: boolean;
  readonly messages: number;
  readonly cost: bigint;
}

/** Adds to the days of the deliveries. The last lock of its transaction but that of the rate: docs/architecture.md. */
export async function countDelivered(connection: Connection, delivered: readonly Delivered[]): Promise<void> {
  if (delivered.length === 0) return;
  const rows = delivered.map(({ channelId, at, category, templateId, country, isFree, messages, cost }) => [
    channelId,
    at.toISOString(),
    category,
    templateId,
    country,
    isFree,
    messages,
    cost,
  ]);
  await connection.query(sql.type(nothing)`
    INSERT INTO delivery_day (channel_id, day, category, country, is_free, messages, cost)
    SELECT channel_id, (at AT TIME ZONE COALESCE((SELECT time_zone FROM business_account WHERE id =
        (SELECT business_account_id FROM channel WHERE id = channel_id)), 'UTC'))::date AS day,
      COALESCE(given.category, (SELECT template.category FROM template WHERE template.id = template_id), '') AS priced,
      country, is_free, sum(messages), sum(cost)
    FROM ${sql.unnest(rows, ['uuid', 'timestamptz', 'text', 'uuid', 'text', 'bool', 'int8', 'int8'])}
      AS given (channel_id, at, category, template_id, country, is_free, messages, cost)
    GROUP BY 1, 2, 3, 4, 5 HAVING sum(messages) <> 0 OR sum(cost) <> 0
    ORDER BY 1, 2, 3, 4, 5
    ON CONFLICT (channel_id, day, category, country, is_free) DO UPDATE
    SET messages = delivery_day.messages + excluded.messages, cost = delivery_day.cost + excluded.cost`);
}

const FigureRow = row(
  t.type({
    category: t.string,
    country: t.string,
    type: oneOf(pricingTypes),
    messages: t.number,
    cost: t.bigint,
  }),
);

/** What a channel delivered on a day of its account's time zone. */
export const listFigures = (
  connection: Connection,
  channelId: string,
  day: string,
): Promise<readonly Figure[]> =>
  connection.any(sql.type(FigureRow)`
    SELECT category, country, CASE WHEN is_free THEN 'FREE' ELSE 'REGULAR' END AS type, messages::float8 AS messages, cost
    FROM delivery_day WHERE channel_id = ${channelId} AND day = ${day}::date AND (messages <> 0 OR cost <> 0)`);

const ComparedAccount = t.type({
  id: t.string,
  workspaceId: t.number,
  currency: nullable(t.string),
  /** The present day in the account's time zone. */
  today: t.string,
});
export type ComparedAccount = t.TypeOf<typeof ComparedAccount>;

const localNow = sql.fragment`(now() AT TIME ZONE COALESCE(time_zone, 'UTC'))`;
const comparedColumns = sql.fragment`id, workspace_id AS "workspaceId", currency, ${localNow}::date::text AS today`;

/** Accounts with channels, behind `afterId`, in whose time zone it is past three and that were not compared today. */
export const listAccountsToCompare = (connection: Connection, afterId: string, limit: number) =>
  connection.any(sql.type(row(ComparedAccount))`
    SELECT ${comparedColumns} FROM business_account
    WHERE id > ${afterId} AND (compared_on IS NULL OR compared_on < ${localNow}::date) AND ${localNow}::time >= '03:00'
      AND EXISTS (SELECT FROM channel WHERE channel.business_account_id = business_account.id)
    ORDER BY id LIMIT ${limit}`);

export async function findComparedAccount(
  connection: Connection,
  businessAccountId: string,
): Promise<ComparedAccount | undefined> {
  const found = await connection.maybeOne(sql.type(row(ComparedAccount))`
    SELECT ${comparedColumns} FROM business_account WHERE id = ${businessAccountId}`);
  return found ?? undefined;
}

export async function markCompared(connection: Connection, { id, today }: ComparedAccount): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE business_account SET compared_on = ${today}::date WHERE id = ${id}`);
}

const Span = row(t.type({ from: timestamp, to: timestamp }));

/** The midnights between which a day lies in the account's time zone. */
export const spanOfDay = (connection: Connection, businessAccountId: string, day: string) =>
  connection.one(sql.type(Span)`
    SELECT ${day}::date::timestamp AT TIME ZONE COALESCE(time_zone, 'UTC') AS from,
      (${day}::date + 1)::timestamp AT TIME ZONE COALESCE(time_zone, 'UTC') AS to
    FROM business_account WHERE id = ${businessAccountId}`);

const Terms = row(t.type({ currency: t.string, factor: t.bigint, fixed: t.bigint }));

/** Currency of the channel's wallet, and what its workspace pays on top of the provider's prices at that time; `factor` in millionths. */
export const findComparisonTerms = (connection: Connection, channelId: string, at: Date) =>
  connection.one(sql.type(Terms)`
    SELECT currency, round(markup.factor * 1000000)::bigint AS factor, markup.fixed
    FROM wallet CROSS JOIN price_markup_at(${channelId}, ${at.toISOString()}) AS markup WHERE channel_id = ${channelId}`);

interface ComparedDay {
  readonly workspaceId: number;
  readonly channelId: string;
  readonly day: string;
}

const Removed = row(t.type({ state: t.string }));

/** Replaces the rows of the day that are not booked. Returns true if it had differences before. Call it in a transaction. */
async function replaceRows(
  connection: Connection,
  { workspaceId, channelId, day }: ComparedDay,
  rows: readonly (readonly (string | number | bigint | null)[])[],
): Promise<boolean> {
  const removed = await connection.any(sql.type(Removed)`
    DELETE FROM price_comparison WHERE channel_id = ${channelId} AND day = ${day}::date AND booked_at IS NULL
    RETURNING state`);
  if (rows.length > 0)
    await connection.query(sql.type(nothing)`
      INSERT INTO price_comparison (workspace_id, channel_id, day, state, category, country, pricing_type, our_messages, our_cost,
        their_messages, their_cost, difference, cause, details)
      SELECT ${workspaceId}, ${channelId}, ${day}::date, line.*
      FROM ${sql.unnest(
        rows.map((columns) => [...columns]),
        ['text', 'text', 'text', 'text', 'int8', 'int8', 'int8', 'int8', 'int8', 'text', 'text'],
      )} AS line
      ON CONFLICT DO NOTHING`);
  return removed.some(({ state }) => state === 'DIFFERENT');
}

/** Stores the differences of a compared day; returns true if it had differences before. Call it in a transaction. */
export const saveDifferences = (
  connection: Connection,
  compared: ComparedDay,
  differences: readonly FigureDifference[],
): Promise<boolean> =>
  replaceRows(
    connection,
    compared,
    differences.map(({ category, country, type, ours, theirs, difference, cause }) => [
      'DIFFERENT',
      category,
      country,
      type,
      ours.messages,
      ours.cost,
      theirs.messages,
      theirs.cost,
      difference,
      cause,
      null,
    ]),
  );

/** Stores why a day was not compared. Call it in a transaction. */
export async function saveNotCompared(
  connection: Connection,
  compared: ComparedDay,
  details: string,
): Promise<void> {
  const { workspaceId, channelId, day } = compared;
  await connection.query(sql.type(nothing)`
    DELETE FROM price_comparison WHERE channel_id = ${channelId} AND day = ${day}::date AND state = 'NOT_COMPARED'`);
  // Differences that were found before stay.
  await connection.query(sql.type(nothing)`
    INSERT INTO price_comparison (workspace_id, channel_id, day, state, details)
    SELECT ${workspaceId}, ${channelId}, ${day}::date, 'NOT_COMPARED', ${details}
    WHERE NOT EXISTS (SELECT FROM price_comparison WHERE channel_id = ${channelId} AND day = ${day}::date)`);
}

const ComparisonRow = t.type({
  id: t.bigint,
  channelId: t.string,
  day: t.string,
  state: oneOf(comparisonStates),
  category: nullable(t.string),
  country: nullable(t.string),
  pricingType: nullable(oneOf(pricingTypes)),
  ourMessages: nullable(t.bigint),
  ourCost: nullable(t.bigint),
  theirMessages: nullable(t.bigint),
  theirCost: nullable(t.bigint),
  difference: nullable(t.bigint),
  cause: nullable(oneOf(differenceCauses)),
  details: nullable(t.string),
  comparedAt: timestamp,
  bookedAt: nullable(timestamp),
});
export type ComparisonRow = t.TypeOf<typeof ComparisonRow>;

/** The latest comparison first; only rows older than `before`. */
export const listComparison = (
  connection: Connection,
  channelId: string,
  { before, limit }: { readonly before: bigint | undefined; readonly limit: number },
): Promise<readonly ComparisonRow[]> =>
  connection.any(sql.type(row(ComparisonRow))`
    SELECT id, channel_id AS "channelId", day::text AS day, state, category, country, pricing_type AS "pricingType",
      our_messages AS "ourMessages", our_cost AS "ourCost", their_messages AS "theirMessages", their_cost AS "theirCost",
      difference, cause, details, compared_at AS "comparedAt", booked_at AS "bookedAt"
    FROM price_comparison
    WHERE channel_id = ${channelId} AND (${before ?? null}::bigint IS NULL OR id < ${before ?? null}::bigint)
    ORDER BY id DESC LIMIT ${limit}`);

const Booked = row(t.type({ lines: t.number, amount: t.bigint }));

/** Marks the differences of a month that were compared on the third day as booked; `month` is its first day. Returns their sum, of those of one cause if it is given. */
export const takeDifferences = (
  connection: Connection,
  {
    channelId,
    month,
    cause,
  }: { readonly channelId: string; readonly month: string; readonly cause: string | undefined },
) =>
  connection.one(sql.type(Booked)`
    WITH booked AS (
      UPDATE price_comparison SET booked_at = now()
      WHERE channel_id = ${channelId} AND day >= ${month}::date AND day < ${month}::date + interval '1 month'
        AND state = 'DIFFERENT' AND booked_at IS NULL
        -- Not by the figures of the next day, which are provisional: in every time zone those of the third day are later than this.
        AND compared_at > (day + interval '60 hours') AT TIME ZONE 'UTC' AND (${cause ?? null}::text IS NULL OR cause = ${cause ?? null}::text)
      RETURNING difference
    )
    SELECT count(*)::int4 AS lines, COALESCE(sum(difference), 0)::bigint AS amount FROM booked`);
