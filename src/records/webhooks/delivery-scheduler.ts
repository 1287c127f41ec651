/** Which deliveries may be dialled now: the relay's side of the delivery table. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Database } from '../database/database.ts';
import { hourMs, sinceId } from '../database/id-bounds.ts';
import { nothing, row } from '../database/row.ts';
import { firstIdAt } from '../database/uuid-v7.ts';
import { of, waitingEndpoints, waits } from './waiting.ts';

export interface SchedulerLimits {
  /** Deliveries to hand out in this round. */
  readonly limit: number;
  /** Of them, for slow endpoints. */
  readonly slowLimit: number;
  /** In flight at one endpoint: while few are in flight altogether, from `busyAt` on, and from `crowdedAt` on. */
  readonly perEndpoint: { readonly idle: number; readonly busy: number; readonly crowded: number };
  readonly busyAt: number;
  readonly crowdedAt: number;
  /** In flight altogether. */
  readonly pool: number;
  /**
   * So many that a worker has not begun after `lateAfterMs` are a queue in Temporal, which no turn reaches any more: until it is
   * shorter, an endpoint gets its first delivery and nobody another one.
   */
  readonly late: number;
  readonly lateAfterMs: number;
  /** Consecutive time-outs, or requests that hang right now, that make an endpoint a slow one. */
  readonly slowAfter: number;
  readonly hangingAfterSeconds: number;
  /** Made longer ago than this, a delivery is over, or swept within the hour. */
  readonly expiryHours: number;
}

const ScheduledDelivery = t.type({
  id: t.string,
  /** Its endpoint keeps timing out, lets requests hang, or has one already without anything being known of it. */
  slow: t.boolean,
  /** No other workspace has anything that waits. */
  alone: t.boolean,
});
export type ScheduledDelivery = t.TypeOf<typeof ScheduledDelivery>;

/**
 * Marks the deliveries whose turn it is and returns them. Workspaces take turns, and the endpoints of each: the one with the
 * fewest in flight comes first. Slow ones have places of their own, few of the round and a quarter of the pool, and yield to healthy ones
 * but for every eighth place, so that nobody starves. One that nothing is known of gets a first request like the others,
 * right behind them, and counts as slow until that has ended. One relay at a time, which keeps the caps exact.
 */
export async function scheduleDeliveries(
  database: Database,
  limits: SchedulerLimits,
  from?: string,
): Promise<readonly ScheduledDelivery[]> {
  const openSince = firstIdAt(new Date(), -hourMs * (limits.expiryHours + 1));
  return database.transaction(async (transaction) => {
    await transaction.query(sql.type(nothing)`SELECT pg_advisory_xact_lock(hashtext('webhook-dispatch'))`);
    return transaction.any(sql.type(row(ScheduledDelivery))`
      WITH RECURSIVE endpoint AS (${waitingEndpoints(from)}
      ), open AS MATERIALIZED (
        SELECT workspace_id, webhook_id, count(*)::int4 AS deliveries,
          count(*) FILTER (WHERE attempted_at < now() - make_interval(secs => ${limits.hangingAfterSeconds}))::int4 AS hanging,
          -- What a worker that died has left is no queue.
          count(*) FILTER (WHERE state = 'pending' AND dispatched_at < now() - make_interval(secs => ${limits.lateAfterMs / 1_000})
            AND dispatched_at > now() - interval '3 seconds')::int4 AS late
        FROM webhook_delivery
        WHERE state IN ('pending', 'sending') AND dispatched_at IS NOT NULL AND ${sinceId(openSince)}
        GROUP BY workspace_id, webhook_id
      ), crowd AS (
        SELECT workspace_id, sum(deliveries)::int4 AS deliveries FROM open GROUP BY workspace_id
      ), standing AS MATERIALIZED (
        SELECT endpoint.webhook_id, COALESCE(open.deliveries, 0) AS open,
          COALESCE(webhook_configuration.consecutive_timeouts, 0) >= ${limits.slowAfter} AS timing_out,
          GREATEST(webhook_configuration.consecutive_timeouts, open.hanging, 0) >= ${limits.slowAfter} AS slow,
          (webhook_configuration.proven_at IS NULL)::int4 AS unknown,
          webhook_configuration.workspace_id, COALESCE(crowd.deliveries, 0) AS of_workspace
        FROM endpoint
        LEFT JOIN open ON open.webhook_id = endpoint.webhook_id
        -- What waits for a paused or deleted one starts no workflow: see endInactiveDeliveries.
        JOIN webhook_configuration
          ON webhook_configuration.id = endpoint.webhook_id AND webhook_configuration.status = 'active'
        LEFT JOIN crowd ON crowd.workspace_id = webhook_configuration.workspace_id
      ), total AS (
        SELECT COALESCE(sum(open.deliveries), 0)::int4 AS all_open, COALESCE(sum(open.late), 0) >= ${limits.late} AS queued,
          COALESCE(sum(open.deliveries) FILTER (
            WHERE GREATEST(webhook_configuration.consecutive_timeouts, open.hanging) >= ${limits.slowAfter}), 0)::int4 AS slow_open
        FROM open LEFT JOIN webhook_configuration ON webhook_configuration.id = open.webhook_id
      ), candidate AS (
        SELECT waiting.id, standing.slow OR standing.unknown * (standing.open + waiting.nth) > 1 AS slow,
          standing.open + waiting.nth + standing.unknown AS depth, standing.workspace_id, standing.of_workspace
        FROM standing CROSS JOIN total
        CROSS JOIN LATERAL (
          SELECT id, row_number() OVER (ORDER BY id) AS nth
          FROM (
            SELECT id FROM webhook_delivery
            WHERE ${of(sql.fragment`standing`)} AND ${waits(from)}
            ORDER BY webhook_id, id
            LIMIT GREATEST(0, LEAST(${limits.limit}, CASE
              WHEN standing.timing_out OR total.all_open >= ${limits.crowdedAt}::int4 THEN ${limits.perEndpoint.crowded}::int4
              WHEN total.all_open >= ${limits.busyAt}::int4 THEN ${limits.perEndpoint.busy}::int4
              ELSE ${limits.perEndpoint.idle}::int4 END - standing.open))
          ) AS first
        ) AS waiting
      ), turn AS (
        SELECT id, slow, depth,
          of_workspace + row_number() OVER (PARTITION BY slow, workspace_id ORDER BY depth, id) AS turn
        FROM candidate
      ), placed AS (
        SELECT id, slow, depth, row_number() OVER (PARTITION BY slow ORDER BY turn, depth, id) AS place FROM turn
      ), chosen AS (
        SELECT placed.id, placed.slow FROM placed CROSS JOIN total
        WHERE CASE WHEN placed.slow THEN NOT total.queued AND placed.place <= LEAST(${limits.slowLimit}::int4, ${Math.ceil(limits.pool / 4)} - total.slow_open)
          -- The last tenth is for healthy ones that have none in flight, however many others begin to hang.
          ELSE placed.depth <= 1 OR (NOT total.queued AND total.all_open + placed.place <= ${Math.floor(limits.pool * 0.9)}) END
        ORDER BY CASE WHEN placed.slow THEN placed.place * 8 ELSE placed.place END, placed.slow DESC, placed.id
        LIMIT (SELECT GREATEST(0, LEAST(${limits.limit}, ${limits.pool} - all_open)) FROM total)
      ), held AS MATERIALIZED (
        SELECT id FROM webhook_delivery
        WHERE id = ANY (ARRAY(SELECT id FROM chosen)) AND ${waits(from)}
        FOR NO KEY UPDATE SKIP LOCKED
      ), dispatched AS (
        UPDATE webhook_delivery SET dispatched_at = now()
        WHERE id = ANY (ARRAY(SELECT id FROM held)) AND ${sinceId(from)}
        RETURNING id
      )
      SELECT id, slow, (SELECT count(DISTINCT workspace_id) = 1 FROM standing) AS alone
      FROM dispatched JOIN chosen USING (id)`);
  });
}
