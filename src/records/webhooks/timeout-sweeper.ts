/** Fails deliveries that got no attempt in time or whose process died, and puts lost starts back into the queue. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection, Database } from '../database/database.ts';
import { nothing, row } from '../database/row.ts';
import { oldestFirst, ofWebhook, waitingEndpoints, waits } from './waiting.ts';

const Ended = row(t.type({ code: t.keyof({ endpoint_inactive: null, disabled: null }) }));

/**
 * Ends up to `limit` waiting deliveries of webhooks that are inactive, disabled or deleted; returns their error codes. Rows that
 * are locked stay for the next call.
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
            SELECT FROM webhook_configuration WHERE id = endpoint.webhook_id AND status = 'active')
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
