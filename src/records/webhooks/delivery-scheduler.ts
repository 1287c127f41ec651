/**
 * Decides which deliveries are attempted next. The states of a delivery, and what moves it:
 *
 *   waiting ──► handed out ──► sending ──► delivered | failed
 *      ▲             │            │
 *      └─────────────┘            └──► failed (interrupted)
 *
 *   waiting → handed out    scheduleDeliveries, under the advisory lock of the webhook's shard
 *   handed out → sending    claimAttempts, just before the request is made
 *   sending → delivered, failed   recordDeliveryOutcomes
 *   handed out → waiting    the workflow could not be started, nothing claimed the delivery for 30 s, or its webhook was paused
 *   sending → interrupted   the process died: the attempt's lease of 15 s expired
 *   waiting or handed out → failed (expired, endpoint_inactive, disabled)   timeout sweeper
 *
 * Deliveries of a paused webhook wait until it is active again, or until they expire.
 *
 * Waiting is `pending` without `dispatched_at`, handed out is `pending` with it. `attempts.ts` has the step from handed out to the end.
 */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection, Database } from '../database/database.ts';
import { hourMs, sinceId } from '../database/id-bounds.ts';
import { nothing, row } from '../database/row.ts';
import { firstIdAt } from '../database/uuid-v7.ts';

type Fragment = ReturnType<typeof sql.fragment>;

export interface SchedulerLimits {
  readonly shards: ShardChoice;
  /** Deliveries to hand out now to endpoints that answer in time, and to slow ones. */
  readonly limit: number;
  readonly slowLimit: number;
  /** Deliveries in flight at one endpoint. */
  readonly perEndpoint: number;
  /** Deliveries in flight at the slow endpoints of one shard. */
  readonly slowPerShard: number;
  /** A delivery created longer ago than this is over, or swept within the hour. */
  readonly expiryHours: number;
}

/** The shards that a poll tries to lock: all `count` of them, beginning with `first`, until it holds `most`. */
export interface ShardChoice {
  readonly count: number;
  readonly first: number;
  readonly most: number;
}

const ScheduledDelivery = t.type({
  id: t.string,
  /** The endpoint timed out last, holds a request for over a second, or is unproven and has a delivery in flight already. */
  slow: t.boolean,
});
export type ScheduledDelivery = t.TypeOf<typeof ScheduledDelivery>;

export interface SchedulerPoll {
  /** Locked by this poll; the others are held by other schedulers. */
  readonly shards: readonly number[];
  readonly deliveries: readonly ScheduledDelivery[];
}

const Locked = row(t.type({ shard: t.number }));
/** Namespace of the advisory locks of shards: the second key is the shard. */
const lockSpace = 0x77686b; // 'whk'
/** A request that is older than this hangs: its endpoint is slow until the request ends. */
const hangingAfterSeconds = 1;

/**
 * Locks free shards, selects the next deliveries in them and marks these as handed out. Fast endpoints alternate by workspace,
 * then by deliveries in flight; slow ones do so among themselves, within slots of their own, and take none from fast ones.
 * An unproven endpoint (no answer yet since its URL was set) gets one delivery behind the proven ones and counts as slow
 * until that delivery ends. The shard's lock keeps `perEndpoint` and `slowPerShard` exact; it is never waited for.
 */
export async function scheduleDeliveries(
  database: Database,
  limits: SchedulerLimits,
  from?: string,
): Promise<SchedulerPoll> {
  const { count, first, most } = limits.shards;
  const order = Array.from({ length: count }, (_, index) => (first + index) % count);
  return database.transaction(async (transaction) => {
    // A statement of its own: the next one must see what the previous holder of the lock has committed. The next one gets a
    // generic plan: planning it again takes longer than running it, and its plan does not depend on the values.
    const locked = await transaction.anyFirst(sql.type(Locked)`
      SELECT shard FROM unnest(${sql.array(order, 'int4')}) AS shard,
        set_config('plan_cache_mode', 'force_generic_plan', true)
      WHERE pg_try_advisory_xact_lock(${lockSpace}, shard) LIMIT ${most}`);
    if (locked.length === 0) return { shards: locked, deliveries: [] };
    const deliveries = await transaction.any(handOut(locked, limits, from));
    return { shards: locked, deliveries };
  });
}

const hashes = 2 ** 32;
const lowestHash = -(2 ** 31);
/** First value of `uuid_hash` in a shard. Shards are ranges of the hash, so that any number of them uses the same index. */
const firstHash = (shard: number, count: number): number => lowestHash + Math.floor((shard * hashes) / count);

function handOut(shards: readonly number[], limits: SchedulerLimits, from?: string) {
  const { count } = limits.shards;
  const openSince = firstIdAt(new Date(), -hourMs * (limits.expiryHours + 1));
  const lows = shards.map((shard) => firstHash(shard, count));
  const highs = shards.map((shard) => firstHash(shard + 1, count) - 1);
  const shard = sql.fragment`unnest(${sql.array(lows, 'int4')}, ${sql.array(highs, 'int4')})`;
  return sql.type(row(ScheduledDelivery))`
    WITH RECURSIVE endpoint AS (${waitingEndpoints(from, shard)}
    ), open AS MATERIALIZED (
      SELECT shard.high, found.* FROM ${shard} AS shard (low, high) CROSS JOIN LATERAL (
        SELECT webhook_id, count(*)::int4 AS deliveries,
          count(*) FILTER (WHERE attempted_at < now() - make_interval(secs => ${hangingAfterSeconds}))::int4 AS hanging
        FROM webhook_delivery
        WHERE uuid_hash(webhook_id) BETWEEN shard.low AND shard.high
          AND state IN ('pending', 'sending') AND dispatched_at IS NOT NULL AND ${sinceId(openSince)}
        GROUP BY webhook_id
      ) AS found
    ), slow_open AS (
      SELECT open.high, sum(open.deliveries) AS deliveries
      FROM open JOIN webhook_configuration ON webhook_configuration.id = open.webhook_id
      WHERE webhook_configuration.consecutive_timeouts > 0 OR open.hanging > 0
      GROUP BY open.high
    ), waiting_endpoint AS MATERIALIZED (
      SELECT endpoint.webhook_id, endpoint.high, webhook_configuration.workspace_id,
        COALESCE(open.deliveries, 0) AS open, (webhook_configuration.proven_at IS NULL)::int4 AS unproven, state.slow,
        -- Twice an equal share of the limit: with hundreds of endpoints a poll need not read the whole limit for each.
        1 + 2 * ${limits.limit}::int4 / count(*) OVER (PARTITION BY state.slow) AS share,
        sum(COALESCE(open.deliveries, 0)) OVER (PARTITION BY webhook_configuration.workspace_id) AS of_workspace
      FROM endpoint
      -- Deliveries of paused webhooks wait; endInactiveDeliveries ends those of others that are not active.
      JOIN webhook_configuration ON webhook_configuration.id = endpoint.webhook_id AND webhook_configuration.status = 'active'
      LEFT JOIN open ON open.webhook_id = endpoint.webhook_id
      CROSS JOIN LATERAL (
        SELECT webhook_configuration.consecutive_timeouts > 0 OR COALESCE(open.hanging, 0) > 0 AS slow) AS state
    ), candidate AS (
      SELECT waiting.id, of.high, of.workspace_id, of.of_workspace, of.open + waiting.nth + of.unproven AS depth,
        of.slow OR of.unproven * (of.open + waiting.nth) > 1 AS slow
      FROM waiting_endpoint AS of CROSS JOIN LATERAL (
        SELECT id, row_number() OVER (ORDER BY id) AS nth FROM (
          SELECT id FROM webhook_delivery
          WHERE ${ofWebhook(sql.fragment`of.webhook_id`)} AND ${waits(from)}
          ORDER BY ${oldestFirst} LIMIT GREATEST(0, LEAST(of.share, ${limits.limit}, ${limits.perEndpoint} - of.open))
        ) AS oldest
      ) AS waiting
    ), turn AS (
      SELECT id, high, slow, depth,
        of_workspace + row_number() OVER (PARTITION BY slow, workspace_id ORDER BY depth, id) AS turn
      FROM candidate
    ), ranked AS (
      SELECT id, high, slow, row_number() OVER (PARTITION BY slow ORDER BY turn, depth, id) AS place,
        row_number() OVER (PARTITION BY slow, high ORDER BY turn, depth, id) AS shard_place
      FROM turn
    ), chosen AS MATERIALIZED (
      SELECT ranked.id, ranked.slow FROM ranked LEFT JOIN slow_open USING (high)
      WHERE CASE WHEN ranked.slow
        THEN place <= ${limits.slowLimit} AND shard_place + COALESCE(slow_open.deliveries, 0) <= ${limits.slowPerShard}
        ELSE place <= ${limits.limit} END
    ), held AS MATERIALIZED (
      SELECT id FROM webhook_delivery
      WHERE id = ANY (ARRAY(SELECT id FROM chosen)) AND ${waits(from)}
      FOR NO KEY UPDATE SKIP LOCKED
    ), handed_out AS (
      UPDATE webhook_delivery SET dispatched_at = now()
      WHERE id = ANY (ARRAY(SELECT id FROM held)) AND ${sinceId(from)}
      RETURNING id
    )
    SELECT id, slow FROM handed_out JOIN chosen USING (id)`;
}

// Waiting deliveries, found webhook by webhook through a skip scan of the index `webhook_delivery_waiting`.

const WaitingId = row(t.type({ id: t.string }));

/** `from` is the watermark: deliveries before it no longer wait, and scanning their dead index entries would cost time. */
export const waits = (from: string | undefined): Fragment =>
  sql.fragment`state = 'pending' AND dispatched_at IS NULL AND ${sinceId(from)}`;

/** Matches the deliveries of `webhookId` by both leading columns of the waiting index. */
export const ofWebhook = (webhookId: Fragment): Fragment => sql.fragment`
  uuid_hash(webhook_id) BETWEEN uuid_hash(${webhookId}) AND uuid_hash(${webhookId})
  AND webhook_id BETWEEN ${webhookId} AND ${webhookId}`;

/** The order of the waiting index. An order by id alone would let Postgres walk the primary key instead. */
export const oldestFirst = sql.fragment`uuid_hash(webhook_id), webhook_id, id`;

/** Every hash, as one range. */
const allShards = sql.fragment`(VALUES (-2147483648, 2147483647))`;

/**
 * Rows of the recursive `endpoint (webhook_id, high)`: each webhook with waiting deliveries whose hash lies in one of `shards`
 * (a table of `low` and `high`). `high` names the shard.
 */
export const waitingEndpoints = (from?: string, shards: Fragment = allShards): Fragment => sql.fragment`
  SELECT first.webhook_id, shard.high FROM ${shards} AS shard (low, high) CROSS JOIN LATERAL (
    SELECT webhook_id FROM webhook_delivery
    WHERE ${waits(from)} AND uuid_hash(webhook_id) BETWEEN shard.low AND shard.high
    ORDER BY uuid_hash(webhook_id), webhook_id LIMIT 1) AS first
  UNION ALL
  SELECT next.webhook_id, endpoint.high FROM endpoint CROSS JOIN LATERAL (
    SELECT webhook_id FROM webhook_delivery
    WHERE ${waits(from)} AND (uuid_hash(webhook_id), webhook_id) > (uuid_hash(endpoint.webhook_id), endpoint.webhook_id)
      AND uuid_hash(webhook_id) <= endpoint.high
    ORDER BY uuid_hash(webhook_id), webhook_id LIMIT 1) AS next`;

/** The earliest waiting delivery of an active webhook from `from` on; cheap enough to ask many times a second. */
export async function findWaitingDelivery(
  connection: Connection,
  from?: string,
): Promise<string | undefined> {
  const id = await connection.maybeOneFirst(sql.type(WaitingId)`
    WITH RECURSIVE endpoint AS (${waitingEndpoints(from)})
    SELECT earliest.id FROM endpoint CROSS JOIN LATERAL (
      SELECT id FROM webhook_delivery WHERE ${ofWebhook(sql.fragment`endpoint.webhook_id`)} AND ${waits(from)}
      ORDER BY ${oldestFirst} LIMIT 1
    ) AS earliest
    WHERE NOT EXISTS (SELECT FROM webhook_configuration WHERE id = endpoint.webhook_id AND status = 'inactive')
    ORDER BY earliest.id LIMIT 1`);
  return id ?? undefined;
}

// The timeout sweeper and what ends a delivery without an attempt.

const Ended = row(t.type({ code: t.keyof({ endpoint_inactive: null, disabled: null }) }));

/**
 * Ends up to `limit` waiting deliveries of webhooks that are disabled or deleted; returns their error codes. Rows that are
 * locked stay for the next call.
 */
export function endInactiveDeliveries(connection: Connection, limit: number) {
  return connection.anyFirst(sql.type(Ended)`
    WITH RECURSIVE endpoint AS (${waitingEndpoints()}
    ), late AS MATERIALIZED (
      SELECT waiting.id
      FROM endpoint
      CROSS JOIN LATERAL (
        SELECT id FROM webhook_delivery
        WHERE ${ofWebhook(sql.fragment`endpoint.webhook_id`)} AND ${waits(undefined)}
          AND NOT EXISTS (
            SELECT FROM webhook_configuration WHERE id = endpoint.webhook_id AND status <> 'disabled')
        ORDER BY ${oldestFirst} LIMIT ${limit}
        FOR UPDATE SKIP LOCKED
      ) AS waiting
      LIMIT ${limit}
    )
    UPDATE webhook_delivery SET state = 'failed', error_code = CASE
      WHEN EXISTS (SELECT FROM webhook_configuration AS webhook WHERE webhook.id = webhook_id AND webhook.status = 'disabled')
      THEN 'disabled' ELSE 'endpoint_inactive' END
    WHERE id = ANY (ARRAY(SELECT id FROM late))
    RETURNING error_code AS code`);
}

/** Puts deliveries whose workflows could not be started back into the queue. */
export async function returnDeliveries(database: Database, ids: readonly string[]): Promise<void> {
  await database.query(sql.type(nothing)`
    UPDATE webhook_delivery SET dispatched_at = NULL
    WHERE id = ANY (${sql.array([...ids], 'uuid')}) AND state = 'pending'`);
}

/** Fails a delivery whose workflow closed without an attempt, for instance because an operator terminated it. */
export async function failUndialled(database: Database, id: string): Promise<void> {
  await database.query(sql.type(nothing)`
    UPDATE webhook_delivery SET state = 'failed', error_code = 'interrupted'
    WHERE id = ${id} AND state = 'pending'`);
}

export interface SweepLimits {
  /** A delivery that waited longer than this comes too late to be of use. */
  readonly expiryHours: number;
  /** A delivery that was handed out this long ago and is not claimed is handed out again: its worker may have died. */
  readonly redispatchSeconds: number;
}

const Swept = row(t.type({ interrupted: t.number, expired: t.number, returned: t.number }));

/** A time further ahead than this predates a clock rollback of Postgres: its process counts as dead. */
const ahead = sql.fragment`interval '5 minutes'`;

/** Fails attempts whose process died and deliveries that waited too long; puts lost starts back into the queue. */
export function sweepTimeouts(database: Database, { expiryHours, redispatchSeconds }: SweepLimits) {
  return database.one(sql.type(Swept)`
    WITH RECURSIVE interrupted AS (
      UPDATE webhook_delivery SET state = 'failed', error_code = 'interrupted', sending_until = NULL
      WHERE state = 'sending' AND dispatched_at IS NOT NULL
        AND (sending_until < now() OR sending_until > now() + ${ahead})
      RETURNING id
    ), endpoint AS (${waitingEndpoints()}
    ), late_waiting AS MATERIALIZED (
      -- Each state is read by its own partial index; a condition on the state alone would read a month of deliveries. The
      -- id contains the time of creation, so of each endpoint only rows that are old enough are read.
      SELECT id FROM webhook_delivery
      WHERE state = 'pending' AND dispatched_at IS NULL AND id = ANY (ARRAY(
        SELECT late.id FROM endpoint CROSS JOIN LATERAL (
          SELECT id FROM webhook_delivery
          WHERE ${ofWebhook(sql.fragment`endpoint.webhook_id`)} AND ${waits(undefined)}
            AND id < (SELECT uuidv7(-make_interval(hours => ${expiryHours})))
          ORDER BY ${oldestFirst} LIMIT 5000) AS late
        LIMIT 5000))
      FOR UPDATE SKIP LOCKED
    ), late_dispatched AS MATERIALIZED (
      SELECT id FROM webhook_delivery
      WHERE state = 'pending' AND dispatched_at IS NOT NULL AND created_at < now() - make_interval(hours => ${expiryHours})
      LIMIT 5000
      FOR UPDATE SKIP LOCKED
    ), expired AS (
      UPDATE webhook_delivery SET state = 'failed', error_code = 'expired'
      WHERE id = ANY (ARRAY(SELECT id FROM late_waiting UNION ALL SELECT id FROM late_dispatched))
      RETURNING id
    ), returned AS (
      UPDATE webhook_delivery SET dispatched_at = NULL
      WHERE state = 'pending' AND dispatched_at IS NOT NULL
        AND (dispatched_at < now() - make_interval(secs => ${redispatchSeconds}) OR dispatched_at > now() + ${ahead})
        AND created_at >= now() - make_interval(hours => ${expiryHours})
      RETURNING id
    )
    SELECT (SELECT count(*)::int4 FROM interrupted) AS interrupted, (SELECT count(*)::int4 FROM expired) AS expired,
      (SELECT count(*)::int4 FROM returned) AS returned`);
}

// Heartbeats of the processes that schedule deliveries. Each takes its share of the shards and of the limits.

const Count = row(t.type({ count: t.number }));

/** A process without a heartbeat for 15 s (three beats) is dead. */
const aliveSeconds = 15;

/** Writes the heartbeat of one scheduler and counts those that are alive, itself included. */
export const countSchedulers = (connection: Connection, id: string): Promise<number> =>
  connection.oneFirst(sql.type(Count)`
    WITH dead AS (
      DELETE FROM webhook_scheduler WHERE seen_at < now() - make_interval(secs => ${2 * aliveSeconds})
    ), beat AS (
      INSERT INTO webhook_scheduler (id, seen_at) VALUES (${id}, now())
      ON CONFLICT (id) DO UPDATE SET seen_at = now()
    )
    SELECT 1 + count(*)::int4 AS count FROM webhook_scheduler
    WHERE id <> ${id} AND seen_at > now() - make_interval(secs => ${aliveSeconds})`);

export async function forgetScheduler(connection: Connection, id: string): Promise<void> {
  await connection.query(sql.type(nothing)`DELETE FROM webhook_scheduler WHERE id = ${id}`);
}
