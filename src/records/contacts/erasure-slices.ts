/** Rows that name an erased person and that no index finds: they are searched in slices of time. */
import { sql, type FragmentSqlToken } from 'slonik';
import * as t from 'io-ts';
import { callbackIsOver } from '../callbacks/provider-callbacks.ts';
import type { Connection } from '../database/database.ts';
import { hourMs, sinceId, startOfDay } from '../database/id-bounds.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';
import { firstIdAt } from '../database/uuid-v7.ts';
import { erasedBody } from '../webhooks/events.ts';
import type { Erasure } from './erasure-job.ts';

const Earliest = row(t.type({ at: nullable(timestamp) }));

/** Start of the day of the earliest row; undefined without rows. Each is read from the indexes of the partitions. */
export async function findFirstDay(connection: Connection): Promise<Date | undefined> {
  const at = await connection.oneFirst(sql.type(Earliest)`
    SELECT least(
      (SELECT uuid_extract_timestamp(id) FROM event ORDER BY id LIMIT 1),
      (SELECT min(received_at) FROM provider_callback),
      (SELECT min(received_at) FROM unmatched_status WHERE emitted_at IS NULL),
      (SELECT min(received_at) FROM unmatched_status WHERE emitted_at IS NOT NULL),
      (SELECT min(created_at) FROM idempotency_key)) AS at`);
  return at === null ? undefined : startOfDay(at.getTime());
}

/** The time from `from` until before `to`, within one UTC day. */
export interface Slice {
  readonly from: Date;
  readonly to: Date;
}

/** Maximum number of rows in a slice, which takes about 0.1 s. A callback has up to 4 MiB, an event a few hundred bytes. */
const mostEvents = 20_000;
const mostCallbacks = 1_000;
const mostAnswers = 5_000;

const within = ({ from, to }: Slice, column: FragmentSqlToken) =>
  sql.fragment`${column} >= ${from.toISOString()} AND ${column} < ${to.toISOString()}`;
const eventsOf = ({ from, to }: Slice) => sql.fragment`id >= ${firstIdAt(from)} AND id < ${firstIdAt(to)}`;

/** The part of a slice that has no more rows than one step may read, half as many for each of the `halvings`. */
export async function limitSlice(connection: Connection, slice: Slice, halvings: number): Promise<Slice> {
  const share = (most: number) => Math.ceil(most / 2 ** halvings);
  const receivedAt = sql.fragment`received_at`;
  const createdAt = sql.fragment`created_at`;
  const at = await connection.oneFirst(sql.type(Earliest)`
    SELECT least(
      (SELECT uuid_extract_timestamp(id) FROM event WHERE ${eventsOf(slice)} ORDER BY id OFFSET ${share(mostEvents)} LIMIT 1),
      (SELECT received_at FROM provider_callback WHERE ${within(slice, receivedAt)}
       ORDER BY received_at OFFSET ${share(mostCallbacks)} LIMIT 1),
      (SELECT created_at FROM idempotency_key WHERE ${within(slice, createdAt)}
       ORDER BY created_at OFFSET ${share(mostAnswers)} LIMIT 1)) AS at`);
  if (at === null) return slice;
  const to = Math.max(Math.floor(at.getTime()), slice.from.getTime() + 1);
  return { from: slice.from, to: new Date(to) };
}

/** True if one of the names occurs in the text. */
const containsName = (text: FragmentSqlToken, names: readonly string[]) => sql.fragment`
  EXISTS (SELECT FROM unnest(${sql.array([...names], 'text')}) AS wanted (name) WHERE strpos(${text}, wanted.name) > 0)`;

const Id = row(t.type({ id: t.string }));

/** Events lose their data, and their waiting deliveries fail. One under way is marked, so that its outcome keeps no answer. */
export async function eraseEvents(connection: Connection, erasure: Erasure, slice: Slice): Promise<void> {
  const { workspaceId, names } = erasure;
  // Marked as fanned out: no delivery of it is made any more.
  const ids = await connection.anyFirst(sql.type(Id)`
    UPDATE event SET body = ${erasedBody}, fanned_out_at = COALESCE(fanned_out_at, now())
    WHERE ${eventsOf(slice)} AND workspace_id = ${workspaceId} AND ${containsName(sql.fragment`body`, names)}
    RETURNING id`);
  if (ids.length === 0) return;
  // An array, because Postgres would estimate the updated rows to be thousands and read whole days of deliveries.
  await connection.query(sql.type(nothing)`
    UPDATE webhook_delivery SET response_excerpt = NULL,
      state = CASE state WHEN 'pending' THEN 'failed' ELSE state END,
      error_code = CASE WHEN state IN ('pending', 'sending') THEN 'erased' ELSE error_code END
    WHERE event_id = ANY (${sql.array(ids, 'uuid')}) AND (response_excerpt IS NOT NULL OR state IN ('pending', 'sending'))
      AND ${sinceId(firstIdAt(slice.from, -hourMs))}`);
}

const Callback = t.type({ id: t.bigint, isOver: t.boolean });

/**
 * Deletes applied callbacks of the workspace's numbers and accounts; false when one that names the person waits to be applied.
 * Callbacks of other workspaces may contain the same digits, and stay.
 */
export async function eraseCallbacks(
  connection: Connection,
  { workspaceId, names, formerNumbers }: Erasure,
  slice: Slice,
): Promise<boolean> {
  const named = sql.array([...names, ...formerNumbers], 'text');
  const received = within(slice, sql.fragment`received_at`);
  const found = await connection.any(sql.type(row(Callback))`
    SELECT id, ${callbackIsOver} AS "isOver" FROM provider_callback
    WHERE ${received} AND EXISTS (
      SELECT FROM unnest(${named}) AS wanted (name) WHERE position(convert_to(wanted.name, 'UTF8') IN body) > 0)
      AND EXISTS (
        SELECT FROM channel WHERE workspace_id = ${workspaceId}
          AND (position(convert_to(phone_number_id, 'UTF8') IN body) > 0
            OR position(convert_to(business_account_id, 'UTF8') IN body) > 0))`);
  const over = found.filter(({ isOver }) => isOver).map(({ id }) => id);
  if (over.length > 0) {
    await connection.query(sql.type(nothing)`
      DELETE FROM provider_callback WHERE id = ANY (${sql.array(over, 'int8')}) AND ${received}`);
  }
  return over.length === found.length;
}

/** Unmatched statuses, and stored answers to requests with an idempotency key. */
export async function eraseStatusesAndAnswers(
  connection: Connection,
  { workspaceId, names }: Erasure,
  slice: Slice,
): Promise<void> {
  const received = within(slice, sql.fragment`received_at`);
  await connection.query(sql.type(nothing)`
    DELETE FROM unmatched_status WHERE id IN (
        SELECT id FROM unmatched_status WHERE ${received} AND emitted_at IS NULL
        UNION ALL SELECT id FROM unmatched_status WHERE ${received} AND emitted_at IS NOT NULL)
      AND channel_id IN (SELECT id FROM channel WHERE workspace_id = ${workspaceId})
      AND ${containsName(sql.fragment`body`, names)}`);
  // The answer keeps its form; it is deleted a day after the request.
  const [, ...replaced] = names;
  const cleared = replaced.reduce(
    (body, name) => sql.fragment`replace(${body}, ${name}, '')`,
    sql.fragment`response_body`,
  );
  await connection.query(sql.type(nothing)`
    UPDATE idempotency_key SET response_body = ${cleared}
    WHERE ${within(slice, sql.fragment`created_at`)} AND workspace_id = ${workspaceId}
      AND ${containsName(sql.fragment`response_body`, names)}`);
}
