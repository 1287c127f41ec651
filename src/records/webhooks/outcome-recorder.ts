/** The outcomes of attempts, on the delivery and on its endpoint: many in one statement. */
import { sql } from 'slonik';
import type { DeliveryState, WebhookErrorCode } from '../../domain/webhooks/delivery.ts';
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
 * Records what attempts came to, also over an `interrupted` that a sweep wrote too early, and how the endpoints are doing.
 * Endpoints are locked in the order of their ids, so that two workers cannot wait for each other.
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
        response_excerpt = result."responseExcerpt", duration_ms = result."durationMs", sending_until = NULL
      FROM result
      WHERE webhook_delivery.id = result.id AND ${of}
        AND (webhook_delivery.state = 'sending'
          OR (webhook_delivery.state = 'failed' AND webhook_delivery.error_code = 'interrupted'))
      RETURNING webhook_delivery.webhook_id, webhook_delivery.state, webhook_delivery.error_code
    ), health AS (
      SELECT webhook_id, bool_or(state = 'delivered') AS delivered, count(*)::int4 AS attempts,
        count(*) FILTER (WHERE error_code IN ('timeout', 'dns_timeout'))::int4 AS timeouts
      FROM recorded GROUP BY webhook_id
    ), locked AS (
      SELECT webhook_configuration.id FROM webhook_configuration JOIN health ON health.webhook_id = webhook_configuration.id
      WHERE NOT health.delivered OR webhook_configuration.consecutive_failures > 0
        OR webhook_configuration.proven_at IS NULL
      ORDER BY webhook_configuration.id
      FOR NO KEY UPDATE OF webhook_configuration
    )
    UPDATE webhook_configuration SET
      consecutive_failures = CASE WHEN health.delivered THEN 0
        ELSE LEAST(consecutive_failures::bigint + health.attempts, 2000000000)::int4 END,
      consecutive_timeouts = CASE WHEN health.delivered OR health.timeouts < health.attempts THEN 0
        ELSE LEAST(consecutive_timeouts::bigint + health.timeouts, 2000000000)::int4 END,
      failing_since = CASE WHEN health.delivered THEN NULL ELSE COALESCE(failing_since, now()) END,
      proven_at = CASE WHEN health.timeouts < health.attempts THEN COALESCE(proven_at, now()) ELSE proven_at END
    FROM health JOIN locked ON locked.id = health.webhook_id
    WHERE webhook_configuration.id = health.webhook_id`);
}
