/**
 * Decides which deliveries are attempted next. The states of a delivery, and what moves it:
 *
 *   waiting ──► handed out ──► sending ──► delivered | failed
 *      ▲             │            │
 *      └─────────────┘            └──► failed (interrupted)
 *
 *   waiting → handed out    scheduleDeliveries, under the advisory lock of the webhook's shard
 *   handed out → sending    claimAttempts, just before the request is made
 *   sending → settled       recordDeliveryOutcomes
 *   handed out → waiting    the workflow could not be started, or nothing claimed the delivery for 30 s
 *   sending → interrupted   the process died: the attempt's lease of 15 s expired
 *   waiting or handed out → failed (expired, endpoint_inactive, disabled)   timeout sweeper
 *
 * Waiting is `pending` without `dispatched_at`, handed out is `pending` with it.
 */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Database } from '../database/database.ts';
import { hourMs, sinceId } from '../database/id-bounds.ts';
import { row } from '../database/row.ts';
import { firstIdAt } from '../database/uuid-v7.ts';
import { oldestFirst, ofWebhook, waitingEndpoints, waits } from './waiting.ts';

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
      -- Deliveries of inactive webhooks start no workflow: endInactiveDeliveries ends them.
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
