/** The outcomes of attempts, on the delivery and on its endpoint: many in one statement. */
import { sql } from 'slonik';
import type { DeliveryState, WebhookErrorCode } from '../../domain/webhooks/delivery.ts';
import { healthWindow } from '../../domain/webhooks/configuration.ts';
import type { Connection } from '../database/database.ts';
import { amongIds } from '../database/id-bounds.ts';
import { nothing } from '../database/row.ts';

export interface AttemptOutcome {
  readonly id: string;
  readonly state: Extract<DeliveryState, 'delivered' | 'failed'>;
  readonly errorCode: WebhookErrorCode | null;
  readonly responseStatus: number | null;
  readonly responseExcerpt: string | null;
  readonly durationMs: number;
}

/**
 * Records the outcomes of attempts, and the health of their endpoints. An outcome replaces an `interrupted` that the timeout
 * sweeper wrote too early; recording it twice is a no-op. Endpoints are locked in the order of their ids, so that two workers
 * cannot deadlock, and only where something changes: a healthy endpoint's row is not written.
 */
export async function recordDeliveryOutcomes(connection: Connection, results: readonly AttemptOutcome[]) {
  const of = amongIds(
    results.map(({ id }) => id),
    sql.fragment`webhook_delivery.id`,
  );
  await connection.query(sql.type(nothing)`
    WITH result AS (
      SELECT * FROM jsonb_to_recordset(${sql.jsonb(results.map((result) => ({ ...result })))}) AS given (
        "id" uuid, "state" text, "errorCode" text, "responseStatus" smallint, "responseExcerpt" text, "durationMs" int4)
    ), recorded AS (
      UPDATE webhook_delivery SET
        state = result.state, error_code = result."errorCode", response_status = result."responseStatus",
        response_excerpt = CASE WHEN webhook_delivery.error_code = 'erased' THEN NULL ELSE result."responseExcerpt" END,
        duration_ms = result."durationMs", sending_until = NULL
      FROM result
      WHERE webhook_delivery.id = result.id AND ${of}
        AND (webhook_delivery.state = 'sending'
          OR (webhook_delivery.state = 'failed' AND webhook_delivery.error_code = 'interrupted'))
      RETURNING webhook_delivery.id, webhook_delivery.webhook_id, webhook_delivery.state, webhook_delivery.error_code,
        webhook_delivery.attempted_at
    ), health AS (
      SELECT webhook_id, bool_or(state = 'delivered') AS delivered, count(*)::int4 AS attempts,
        string_agg(CASE state WHEN 'delivered' THEN 'S' ELSE 'F' END, '' ORDER BY attempted_at, id) AS outcomes,
        count(*) FILTER (WHERE error_code IN ('timeout', 'dns_timeout'))::int4 AS timeouts
      FROM recorded GROUP BY webhook_id
    ), locked AS (
      SELECT webhook_configuration.id FROM webhook_configuration JOIN health ON health.webhook_id = webhook_configuration.id
      WHERE health.outcomes LIKE '%F%' OR webhook_configuration.recent_outcomes <> repeat('S', ${healthWindow})
        OR webhook_configuration.consecutive_failures > 0 OR webhook_configuration.proven_at IS NULL
      ORDER BY webhook_configuration.id
      FOR NO KEY UPDATE OF webhook_configuration
    )
    UPDATE webhook_configuration SET
      consecutive_failures = CASE WHEN health.delivered THEN 0
        ELSE LEAST(consecutive_failures::bigint + health.attempts, 2000000000)::int4 END,
      consecutive_timeouts = CASE WHEN health.delivered OR health.timeouts < health.attempts THEN 0
        ELSE LEAST(consecutive_timeouts::bigint + health.timeouts, 2000000000)::int4 END,
      failing_since = CASE WHEN health.delivered THEN NULL ELSE COALESCE(failing_since, now()) END,
      last_failed_at = CASE WHEN health.delivered THEN NULL ELSE now() END,
      recent_outcomes = right(recent_outcomes || health.outcomes, ${healthWindow}),
      proven_at = CASE WHEN health.timeouts < health.attempts THEN COALESCE(proven_at, now()) ELSE proven_at END
    FROM health JOIN locked ON locked.id = health.webhook_id
    WHERE webhook_configuration.id = health.webhook_id`);
}
