/** Events: each holds the text of its request body. The event fan-out creates their deliveries. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { type NewEvent, serialiseEvent } from '../../domain/webhooks/new-event.ts';
import { type EventKey, eventKeys } from '../../domain/webhooks/event-key.ts';
import type { Connection } from '../database/database.ts';
import { sinceId } from '../database/id-bounds.ts';
import { nothing, row } from '../database/row.ts';

const Key = row(t.type({ key: t.string }));

/** The keys that some active configuration of the workspace listens to; every key if its event feed is on. */
export async function listSubscribedKeys(
  connection: Connection,
  workspaceId: number,
): Promise<ReadonlySet<string>> {
  const keys = await connection.anyFirst(sql.type(Key)`
    SELECT DISTINCT unnest(events) AS key
    FROM webhook_configuration
    WHERE workspace_id = ${workspaceId} AND status = 'active'
    UNION
    SELECT unnest(${sql.array(eventKeys, 'text')}) FROM event_feed WHERE workspace_id = ${workspaceId} AND enabled`);
  return new Set(keys);
}

/**
 * The only way to write events: a data-modifying CTE for the transaction, and often the statement, of the change. It takes them
 * from `written` (workspace_id, event_key, event_body, occurred_at, place), in the order of `place`, and leaves out events that
 * no active configuration of the workspace subscribes to, unless its event feed is on.
 */
export const insertWrittenEvents = sql.fragment`
  INSERT INTO event (workspace_id, key, body, occurred_at)
  SELECT workspace_id, event_key, event_body, occurred_at FROM written
  WHERE EXISTS (
    SELECT FROM webhook_configuration AS listener
    WHERE listener.workspace_id = written.workspace_id AND listener.status = 'active'
      AND written.event_key = ANY (listener.events))
    OR EXISTS (SELECT FROM event_feed WHERE event_feed.workspace_id = written.workspace_id AND enabled)
  ORDER BY place`;

/** Writes events in a statement of their own. Bodies without a subscriber are not serialised. */
export async function emitEvents(
  connection: Connection,
  workspaceId: number,
  events: readonly NewEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const subscribed = await listSubscribedKeys(connection, workspaceId);
  const rows = events
    .filter(({ eventKey }) => subscribed.has(eventKey))
    .map((event, place) => ({
      place,
      event_key: event.eventKey,
      event_body: serialiseEvent(workspaceId, event),
      occurred_at: event.occurredAt.toISOString(),
    }));
  if (rows.length === 0) return;
  await connection.query(sql.type(nothing)`
    WITH written AS (
      SELECT ${workspaceId}::int4 AS workspace_id, given.* FROM jsonb_to_recordset(${sql.jsonb(rows)})
        AS given (event_key text, event_body text, occurred_at timestamptz, place int4)
    )
    ${insertWrittenEvents}`);
}

const EventId = row(t.type({ id: t.string }));

export interface NewEventRow {
  readonly key: EventKey;
  readonly body: string;
  readonly occurredAt: Date;
}

/** Inserts the event of a test delivery: it counts as fanned out, so that no other configuration receives it. */
export function insertTestEvent(connection: Connection, workspaceId: number, event: NewEventRow) {
  return connection.oneFirst(sql.type(EventId)`
    INSERT INTO event (workspace_id, key, body, occurred_at, fanned_out_at)
    VALUES (${workspaceId}, ${event.key}, ${event.body}, ${event.occurredAt.toISOString()}, now())
    RETURNING id`);
}

/**
 * The first waiting event from `after` on; cheap enough to ask many times a second. The order is the index's: without it, and with
 * statistics from the middle of a burst, Postgres would scan the whole table once nothing waits any more.
 */
export async function findWaitingEvent(connection: Connection, after?: string): Promise<string | undefined> {
  const id = await connection.maybeOneFirst(sql.type(EventId)`
    SELECT id FROM event WHERE fanned_out_at IS NULL AND ${sinceId(after)} ORDER BY id LIMIT 1`);
  return id ?? undefined;
}

/** The smallest id that an event or a delivery written ten seconds ago may have: ids carry their time. */
export const recentId = (connection: Connection): Promise<string> =>
  connection.oneFirst(sql.type(EventId)`SELECT uuidv7(interval '-10 seconds') AS id`);

const FanOut = row(t.type({ events: t.number, deliveries: t.number }));
/**
 * Creates one delivery per waiting event and active, subscribed configuration: about `limit` deliveries in all, with the same share
 * for every workspace, so that a small workspace does not wait behind a million events of a large one. `after` is the watermark:
 * events before it are fanned out. One statement, so that a process killed at any point leaves either all of it or nothing.
 * Concurrent calls take different events: locked ones are skipped.
 *
 * Events of a workspace with an event feed are numbered in the same statement, under the lock of the feed's row: positions
 * become visible in their order, and without gaps. While another call has that lock, this one leaves the workspace to it.
 */
export function fanOutEvents(connection: Connection, limit: number, after?: string) {
  return connection.one(sql.type(FanOut)`
    WITH RECURSIVE workspace AS (
      (SELECT workspace_id FROM event WHERE fanned_out_at IS NULL AND ${sinceId(after)} ORDER BY workspace_id LIMIT 1)
      UNION ALL
      SELECT (SELECT next.workspace_id FROM event AS next
              WHERE next.fanned_out_at IS NULL AND next.workspace_id > workspace.workspace_id AND ${sinceId(after)}
              ORDER BY next.workspace_id LIMIT 1)
      FROM workspace WHERE workspace.workspace_id IS NOT NULL
    ), feed AS MATERIALIZED (
      SELECT workspace_id, last_position FROM event_feed
      WHERE enabled AND workspace_id = ANY (ARRAY(SELECT workspace_id FROM workspace))
      FOR NO KEY UPDATE SKIP LOCKED
    ), share AS (
      SELECT workspace.workspace_id, GREATEST(1, ${limit}::int4 / (count(*) OVER () * GREATEST(1, (
        SELECT count(*) FROM webhook_configuration
        WHERE webhook_configuration.workspace_id = workspace.workspace_id AND status = 'active')))) AS events
      FROM workspace WHERE workspace.workspace_id IS NOT NULL
        AND (workspace.workspace_id IN (SELECT workspace_id FROM feed)
          OR NOT EXISTS (SELECT FROM event_feed WHERE enabled AND event_feed.workspace_id = workspace.workspace_id))
    ), waiting AS MATERIALIZED (
      SELECT first.id, first.workspace_id, first.key
      FROM share CROSS JOIN LATERAL (
        SELECT id, workspace_id, key FROM event
        WHERE event.workspace_id = share.workspace_id AND fanned_out_at IS NULL AND ${sinceId(after)}
        ORDER BY id
        LIMIT share.events
        FOR UPDATE SKIP LOCKED
      ) AS first
    ), made AS (
      INSERT INTO webhook_delivery (workspace_id, webhook_id, event_id, event_key)
      SELECT waiting.workspace_id, webhook_configuration.id, waiting.id, waiting.key
      FROM waiting
      JOIN webhook_configuration
        ON webhook_configuration.workspace_id = waiting.workspace_id
       AND webhook_configuration.status = 'active'
       AND waiting.key = ANY (webhook_configuration.events)
      ORDER BY waiting.id
      RETURNING id
    ), numbered AS (
      INSERT INTO event_feed_batch (workspace_id, last_position, event_ids)
      SELECT feed.workspace_id, feed.last_position + count(*), array_agg(waiting.id ORDER BY waiting.id)
      FROM feed JOIN waiting USING (workspace_id) GROUP BY feed.workspace_id, feed.last_position
      RETURNING workspace_id, last_position
    ), advanced AS (
      UPDATE event_feed SET last_position = numbered.last_position FROM numbered
      WHERE event_feed.workspace_id = numbered.workspace_id
    ), done AS (
      UPDATE event SET fanned_out_at = now() WHERE id = ANY (ARRAY(SELECT id FROM waiting)) AND ${sinceId(after)} RETURNING id
    )
    SELECT (SELECT count(*)::int4 FROM done) AS events, (SELECT count(*)::int4 FROM made) AS deliveries`);
}

/** The body that erasure leaves, from the columns of an `event` row: key and time without data. Such an event is delivered no more. */
export const erasedBody = sql.fragment`
  json_build_object('eventKey', key, 'workspaceId', workspace_id, 'timestamp', occurred_at,
    'data', json_build_object('erased', true))::text`;

const erasedEnd = '"data" : {"erased" : true}}';

/**
 * True for an `event` row that is erased, and for one that the erasure job has yet to erase. Postgres writes spaces around
 * colons, our own serialisation never does: no other body ends like this. strpos comes first, because it is much faster.
 */
export const isErased = sql.fragment`((strpos(event.body, ${erasedEnd}) > 0 AND right(event.body, ${erasedEnd.length}) = ${erasedEnd}) OR EXISTS (
  SELECT FROM erasure CROSS JOIN LATERAL unnest(erasure.names) AS name
  WHERE erasure.workspace_id = event.workspace_id AND uuid_extract_timestamp(event.id) < erasure.requested_at
    AND strpos(event.body, name) > 0))`;
