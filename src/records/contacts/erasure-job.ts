/** Erasures under way: a queue whose steps clear what the request could not find at once. */
import * as t from 'io-ts';
import { type FragmentSqlToken, sql } from 'slonik';
import { preparationSession } from '../audience/recipient-load.ts';
import { callbackIsOver } from '../callbacks/provider-callbacks.ts';
import type { Connection } from '../database/database.ts';
import { hourMs, sinceId, startOfDay } from '../database/id-bounds.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';
import { firstIdAt } from '../database/uuid-v7.ts';
import { erasedBody } from '../webhooks/events.ts';
import { clearMessages, clearRecipients, messagesOf, recipientsOf } from './person-rows.ts';

/**
 * `names`: the contact's id, number and provider ids. `formerNumbers` may have other owners by now. Does nothing if another
 * request has just erased the person.
 */
export async function queueErasure(
  connection: Connection,
  erasure: Pick<Erasure, 'workspaceId' | 'contactId' | 'names' | 'formerNumbers'>,
): Promise<void> {
  // Ids carry milliseconds: rows of the present millisecond still belong to the erasure.
  await connection.query(sql.type(nothing)`
    INSERT INTO erasure (contact_id, workspace_id, names, former_numbers, requested_at)
    VALUES (${erasure.contactId}, ${erasure.workspaceId}, ${sql.array(erasure.names, 'text')},
      ${sql.array(erasure.formerNumbers, 'text')},
      date_trunc('milliseconds', clock_timestamp()) + interval '1 millisecond')
    ON CONFLICT DO NOTHING`);
}

const Erasure = t.type({
  contactId: t.string,
  workspaceId: t.number,
  names: t.readonlyArray(t.string),
  formerNumbers: t.readonlyArray(t.string),
  requestedAt: timestamp,
  clearedUntil: nullable(timestamp),
  /** How often its slices were halved. */
  halvings: t.number,
});
export type Erasure = t.TypeOf<typeof Erasure>;

/** 10 s, so that a step that takes too long delays the others only a little before its slice is halved. */
const stepTimeoutMs = 10_000;

/** Slices are not halved more often: the largest then has a single row. */
export const maxHalvings = 15;

/**
 * Locks an erasure whose step is due: the one of a workspace chosen at random that is due longest, so that no workspace waits
 * behind all erasures of another. Skips locked ones and those requested in the last `afterSeconds`. A time more than a minute
 * ahead predates a clock rollback: that step is due.
 */
export async function lockErasure(
  connection: Connection,
  afterSeconds: number,
): Promise<Erasure | undefined> {
  const salt = Math.floor(Math.random() * 2 ** 31);
  const found = await connection.maybeOne(sql.type(row(Erasure))`
    SELECT contact_id AS "contactId", workspace_id AS "workspaceId", names, former_numbers AS "formerNumbers",
      requested_at AS "requestedAt", cleared_until AS "clearedUntil", halvings
    FROM erasure
    WHERE next_step_at <= clock_timestamp()
        - make_interval(secs => CASE WHEN cleared_until IS NULL THEN ${afterSeconds} ELSE 0 END)
      OR next_step_at > clock_timestamp() + interval '1 minute'
    ORDER BY hashint8extended(workspace_id, ${salt}::int8), next_step_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED`);
  if (found === null) return undefined;
  if (found.halvings < maxHalvings) {
    await connection.query(
      sql.type(nothing)`SELECT set_config('statement_timeout', ${String(stepTimeoutMs)}, true)`,
    );
  }
  return found;
}

/**
 * Before the first step: rows that are dated ahead were written before the clock was set back, so the erasure covers them.
 * Returns the time until which it clears.
 */
export async function coverRowsAhead(connection: Connection, { contactId }: Erasure): Promise<Date> {
  return connection.oneFirst(sql.type(row(t.type({ until: timestamp })))`
    UPDATE erasure SET requested_at = greatest(requested_at, (
      SELECT date_trunc('milliseconds', max(at)) + interval '1 millisecond' FROM (
        (SELECT uuid_extract_timestamp(id) AS at FROM event ORDER BY id DESC LIMIT 1)
        UNION ALL SELECT max(received_at) FROM provider_callback
        UNION ALL SELECT max(received_at) FROM unmatched_status WHERE emitted_at IS NULL
        UNION ALL SELECT max(received_at) FROM unmatched_status WHERE emitted_at IS NOT NULL
        UNION ALL SELECT max(created_at) FROM idempotency_key
      ) AS latest WHERE at > clock_timestamp() + interval '1 minute'))
    WHERE contact_id = ${contactId} RETURNING requested_at AS until`);
}

/** Other erasures advance in the meantime. `halve` gives the next step half the rows. */
export async function postponeErasure(
  connection: Connection,
  { contactId }: Pick<Erasure, 'contactId'>,
  { delaySeconds, halve = false }: { readonly delaySeconds: number; readonly halve?: boolean },
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE erasure SET next_step_at = clock_timestamp() + make_interval(secs => ${delaySeconds}),
      halvings = CASE WHEN ${halve} THEN least(halvings + 1, ${maxHalvings}) ELSE halvings END
    WHERE contact_id = ${contactId}`);
}

/**
 * True while a preparation runs that may have read the contact before the request: its recipients are not visible yet.
 * 5 s: the transaction of the request commits within that time of `requested_at`.
 */
export function isKnownToPreparation(connection: Connection, { requestedAt }: Erasure): Promise<boolean> {
  return connection.oneFirst(sql.type(row(t.type({ known: t.boolean })))`
    SELECT EXISTS (
      SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = ${preparationSession}
        AND xact_start < ${requestedAt.toISOString()}::timestamptz + interval '5 seconds') AS known`);
}

/**
 * Clears what transactions that read the contact before the request committed after it: recipients of a preparation, messages,
 * answers of the provider, its ids of the person. A new contact with the same number keeps its own.
 */
export async function eraseLateTraces(
  connection: Connection,
  {
    workspaceId,
    contactId,
    names,
    formerNumbers,
  }: Pick<Erasure, 'workspaceId' | 'contactId' | 'names' | 'formerNumbers'>,
): Promise<void> {
  const isOf = (numbers: readonly string[]) =>
    sql.fragment`phone_number = ANY (${sql.array(numbers, 'text')})`;
  const numbered = isOf([...names, ...formerNumbers]);
  const ofContactOrNone = sql.fragment`${numbered} AND COALESCE(contact_id = ${contactId}, ${isOf(names)})`;
  // Only by contact: its numbers may have other owners.
  await clearMessages(
    connection,
    messagesOf({ workspaceId, contactId: sql.fragment`${contactId}`, numbers: sql.fragment`'{}'::text[]` }),
  );
  await clearRecipients(connection, recipientsOf({ workspaceId, contactId, isTheirs: ofContactOrNone }));
  await connection.query(sql.type(nothing)`DELETE FROM contact_identity WHERE contact_id = ${contactId}`);
}

export async function advanceErasure(
  connection: Connection,
  { contactId }: Erasure,
  { clearedUntil, delaySeconds }: { readonly clearedUntil: Date; readonly delaySeconds: number },
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE erasure SET cleared_until = ${clearedUntil.toISOString()}, halvings = greatest(0, halvings - 1),
      next_step_at = clock_timestamp() + make_interval(secs => ${delaySeconds})
    WHERE contact_id = ${contactId}`);
}

export async function endErasure(connection: Connection, { contactId }: Erasure): Promise<void> {
  await connection.query(sql.type(nothing)`DELETE FROM erasure WHERE contact_id = ${contactId}`);
}

// Rows that name an erased person and that no index finds: they are searched in slices of time.

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
interface Slice {
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
