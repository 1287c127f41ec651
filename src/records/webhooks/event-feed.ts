/**
 * The event feed: what a workspace's events were, for readers that follow a cursor. The fan-out numbers events after their
 * commit (see `fanOutEvents`), so an event of a transaction that commits late gets a later position, and no transaction,
 * however long it stays open, holds up the feed.
 */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { FeedKey } from '../../domain/webhooks/event-key.ts';
import type { Connection } from '../database/database.ts';
import { amongIds } from '../database/id-bounds.ts';
import { nothing, nullable, row } from '../database/row.ts';
import { erasedBody, isErased } from './events.ts';

/** A place in a feed: after the event at this position. `eventId` tells a feed from its copy in a restored database. */
export interface FeedPlace {
  readonly position: number;
  readonly eventId: string | null;
}

export interface FeedState {
  readonly enabled: boolean;
  /** The place before the oldest event that is kept, and the one after the latest. */
  readonly oldest: FeedPlace;
  readonly latest: FeedPlace;
}

const State = row(
  t.type({
    enabled: t.boolean,
    last: t.bigint,
    before: nullable(t.bigint),
    latestId: nullable(t.string),
  }),
);

/** Returns undefined for a workspace that never had a feed. */
export async function findFeed(connection: Connection, workspaceId: number): Promise<FeedState | undefined> {
  const found = await connection.maybeOne(sql.type(State)`
    SELECT enabled, last_position AS last,
      (SELECT last_position - cardinality(event_ids) FROM event_feed_batch AS batch
       WHERE batch.workspace_id = event_feed.workspace_id ORDER BY last_position LIMIT 1) AS before,
      (SELECT event_ids[cardinality(event_ids)] FROM event_feed_batch AS batch
       WHERE batch.workspace_id = event_feed.workspace_id AND batch.last_position = event_feed.last_position) AS "latestId"
    FROM event_feed WHERE workspace_id = ${workspaceId}`);
  if (found === null) return undefined;
  const { enabled, last, before, latestId } = found;
  return {
    enabled,
    oldest: { position: Number(before ?? last), eventId: null },
    latest: { position: Number(last), eventId: latestId },
  };
}

/** Events written while the feed is off are not in it: a reader that comes from before them finds its cursor too old. */
export async function saveFeed(connection: Connection, workspaceId: number, enabled: boolean): Promise<void> {
  await connection.query(sql.type(nothing)`
    INSERT INTO event_feed (workspace_id, enabled) VALUES (${workspaceId}, ${enabled})
    ON CONFLICT (workspace_id) DO UPDATE SET enabled = excluded.enabled,
      last_position = event_feed.last_position + CASE WHEN excluded.enabled AND NOT event_feed.enabled THEN 1 ELSE 0 END`);
}

export interface FeedEvent {
  readonly place: FeedPlace;
  readonly id: string;
  /** The text of the request body. */
  readonly body: string;
}

export interface FeedPage {
  readonly events: readonly FeedEvent[];
  /** Where the next page begins: after the last event that was looked at, whether or not its key is wanted. */
  readonly next: FeedPlace;
}

export interface FeedRequest {
  readonly after: FeedPlace;
  /** Position of the latest event, read before: events that are numbered meanwhile are not missing. */
  readonly latest: number;
  /** Empty: events of every key. */
  readonly keys: readonly FeedKey[];
  readonly limit: number;
}

/** Events that one page looks at if only some keys are wanted. */
const mostFiltered = 5_000;
/** 4 MiB: the bodies are passed on as they are, without being parsed. */
const mostBytes = 4 * 1024 * 1024;

const Batch = row(t.type({ last: t.bigint, ids: t.string }));
const Kept = row(t.type({ id: t.string, key: t.string, size: t.number }));
const Body = row(t.type({ id: t.string, body: t.string }));

interface Place {
  readonly position: number;
  readonly id: string;
}

/**
 * Reads the events after a place, oldest first. Returns `gone` if the next event is no longer kept, and `unknown` if this
 * feed has no such place: the database was restored to an earlier time.
 */
export async function readFeed(
  connection: Connection,
  workspaceId: number,
  { after, latest, keys, limit }: FeedRequest,
): Promise<FeedPage | 'gone' | 'unknown'> {
  const scanned = keys.length === 0 ? limit : mostFiltered;
  const from = await listNumbered(connection, workspaceId, after.position, scanned + 1);
  const [first] = from;
  const isKnown = first?.position === after.position;
  if (isKnown && after.eventId !== null && first.id !== after.eventId) return 'unknown';
  const numbered = isKnown ? from.slice(1) : from.slice(0, scanned);
  const start = numbered[0];
  if (start === undefined) {
    if (after.position === latest) return { events: [], next: after };
    return after.position < latest ? 'gone' : 'unknown';
  }
  // A gap, of a feed that was off or of removed batches, ends the page; the page after it begins at the gap.
  const dense = numbered.filter(({ position }, index) => position === after.position + 1 + index);
  if (dense.length === 0) return 'gone';

  const kept = new Map(
    (
      await connection.any(sql.type(Kept)`
        SELECT id, key, octet_length(body) AS size FROM event WHERE ${amongIds(dense.map(({ id }) => id))}`)
    ).map((event) => [event.id, event]),
  );
  const wanted: Place[] = [];
  let last: Place | undefined;
  let bytes = 0;
  for (const place of dense) {
    const event = kept.get(place.id);
    // Retention may remove an event of late yesterday before the batch of today that numbers it.
    if (event === undefined) break;
    if (keys.length === 0 || keys.some((key) => key === event.key)) {
      if (wanted.length === limit || bytes >= mostBytes) break;
      wanted.push(place);
      bytes += event.size;
    }
    last = place;
  }
  if (last === undefined) return 'gone';
  const bodies = new Map(
    (
      await connection.any(sql.type(Body)`
        SELECT id, CASE WHEN ${isErased} THEN ${erasedBody} ELSE body END AS body FROM event
        WHERE ${amongIds(wanted.map(({ id }) => id))}`)
    ).map(({ id, body }) => [id, body]),
  );
  const events: FeedEvent[] = [];
  for (const { position, id } of wanted) {
    const body = bodies.get(id);
    // Retention has removed it since the statement before.
    if (body === undefined) return 'gone';
    events.push({ place: { position, eventId: id }, id, body });
  }
  return { events, next: { position: last.position, eventId: last.id } };
}

/** The place before the first event after `after` that is still kept; `latest` (read before) if there is none. */
export async function oldestPlace(
  connection: Connection,
  workspaceId: number,
  { after, latest }: { readonly after: number; readonly latest: number },
): Promise<FeedPlace> {
  const found = await connection.maybeOneFirst(sql.type(row(t.type({ position: t.bigint })))`
    SELECT batch.before + listed.nth - 1 AS position
    FROM (
      -- OFFSET 0: the length is computed once, not again for each element, because it decompresses the array.
      SELECT last_position - cardinality(event_ids) AS before, event_ids FROM event_feed_batch
      WHERE workspace_id = ${workspaceId} AND last_position > ${after} ORDER BY last_position OFFSET 0
    ) AS batch
    CROSS JOIN LATERAL unnest(event_ids) WITH ORDINALITY AS listed (id, nth)
    WHERE batch.before + listed.nth > ${after}
      -- Not EXISTS, which the planner may turn into a join that loses the order.
      AND (SELECT true FROM event WHERE event.id = listed.id LIMIT 1)
    LIMIT 1`);
  return { position: found === null ? latest : Number(found), eventId: null };
}

/** The events from `position` on, at most `limit`, in order. */
async function listNumbered(
  connection: Connection,
  workspaceId: number,
  position: number,
  limit: number,
): Promise<readonly Place[]> {
  const end = position + limit;
  // The arrays are taken apart here: in a condition on its elements, Postgres would decompress the array for each of them.
  const batches = await connection.any(sql.type(Batch)`
    SELECT last_position AS last, array_to_string(event_ids, ',') AS ids FROM event_feed_batch
    WHERE workspace_id = ${workspaceId} AND last_position >= ${position} AND last_position <= COALESCE((
      SELECT last_position FROM event_feed_batch
      WHERE workspace_id = ${workspaceId} AND last_position >= ${end} ORDER BY last_position LIMIT 1), ${end})
    ORDER BY last_position`);
  return batches
    .flatMap(({ last, ids: joined }) => {
      const ids = joined.split(',');
      return ids.map((id, at) => ({ position: Number(last) - ids.length + 1 + at, id }));
    })
    .filter((place) => place.position >= position && place.position < end);
}

/** Removes up to `limit` batches that are older than the given time, of each workspace the oldest first; returns how many. */
export async function removeFeedBatches(
  connection: Connection,
  before: Date,
  limit: number,
): Promise<number> {
  const { rowCount } = await connection.query(sql.type(nothing)`
    DELETE FROM event_feed_batch USING (
      SELECT event_feed.workspace_id, old.last_position FROM event_feed CROSS JOIN LATERAL (
        SELECT last_position, created_at FROM event_feed_batch
        WHERE event_feed_batch.workspace_id = event_feed.workspace_id ORDER BY last_position LIMIT ${limit}
      ) AS old
      WHERE old.created_at < ${before.toISOString()} LIMIT ${limit}
    ) AS old
    WHERE event_feed_batch.workspace_id = old.workspace_id AND event_feed_batch.last_position = old.last_position`);
  return rowCount;
}
