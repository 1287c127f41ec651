/** Deliveries that wait for their turn: found endpoint by endpoint, from the first that waits on. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { sinceId } from '../database/id-bounds.ts';
import { row } from '../database/row.ts';

const WaitingId = row(t.type({ id: t.string }));
type Fragment = ReturnType<typeof sql.fragment>;

/** Before the first one that waits lie those that are done, which Postgres passes while a transaction is open. */
export const waits = (from: string | undefined): Fragment =>
  sql.fragment`state = 'pending' AND dispatched_at IS NULL AND ${sinceId(from)}`;

/**
 * Those of one endpoint, to be ordered by both columns of the index: beside a million of another, Postgres would look for them
 * by walking the key of the table.
 */
export const of = (table: Fragment): Fragment =>
  sql.fragment`webhook_id BETWEEN ${table}.webhook_id AND ${table}.webhook_id`;

/** `endpoint` (webhook_id) of a recursive WITH: every one with deliveries that wait, and NULL. */
export const waitingEndpoints = (from?: string): Fragment => sql.fragment`
  (SELECT webhook_id FROM webhook_delivery WHERE ${waits(from)} ORDER BY webhook_id LIMIT 1)
  UNION ALL
  SELECT (SELECT webhook_id FROM webhook_delivery
          WHERE ${waits(from)} AND webhook_id > endpoint.webhook_id ORDER BY webhook_id LIMIT 1)
  FROM endpoint WHERE endpoint.webhook_id IS NOT NULL`;

/** The earliest, from `from` on. Cheap enough to ask many times a second. */
export async function findWaitingDelivery(
  connection: Connection,
  from?: string,
): Promise<string | undefined> {
  const id = await connection.maybeOneFirst(sql.type(WaitingId)`
    WITH RECURSIVE endpoint AS (${waitingEndpoints(from)})
    SELECT earliest.id FROM endpoint CROSS JOIN LATERAL (
      SELECT id FROM webhook_delivery WHERE ${of(sql.fragment`endpoint`)} AND ${waits(from)} ORDER BY webhook_id, id LIMIT 1
    ) AS earliest
    ORDER BY earliest.id LIMIT 1`);
  return id ?? undefined;
}
