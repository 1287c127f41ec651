/** Waiting deliveries, found webhook by webhook by a skip scan of the index `webhook_delivery_waiting`. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { sinceId } from '../database/id-bounds.ts';
import { row } from '../database/row.ts';

const WaitingId = row(t.type({ id: t.string }));
type Fragment = ReturnType<typeof sql.fragment>;

/** `from` is the watermark: deliveries before it are settled, and scanning their dead index entries would cost time. */
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

/** The earliest waiting delivery from `from` on; cheap enough to ask many times a second. */
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
    ORDER BY earliest.id LIMIT 1`);
  return id ?? undefined;
}
