/** Permission for the one attempt of each delivery, and its outcome on the delivery and its endpoint; many in one statement. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import {
  type DeliveryState,
  healthWindow,
  maxPayloadBytes,
  type WebhookErrorCode,
} from '../../domain/webhooks/delivery.ts';
import { tooLargeEnd } from '../../domain/webhooks/new-event.ts';
import type { Connection } from '../database/database.ts';
import { amongIds } from '../database/id-bounds.ts';
import { bytes, nothing, nullable, row } from '../database/row.ts';
import { isErased } from './events.ts';

const Refusal = t.keyof({
  endpoint_inactive: null,
  disabled: null,
  expired: null,
  erased: null,
  payload_too_large: null,
});
const Id = row(t.type({ id: t.string }));

const Attempt = t.type({
  id: t.string,
  workspaceId: t.number,
  webhookId: t.string,
  eventId: t.string,
  eventKey: t.string,
  url: t.string,
  body: t.string,
  secretEncrypted: nullable(bytes),
  /** Null once it has expired. */
  previousSecretEncrypted: nullable(bytes),
  /** Why no request may be made: the delivery has failed, and `url` and `body` are empty. Null if it may. */
  refusal: nullable(Refusal),
});
/** Everything that the request of one delivery needs. */
export type Attempt = t.TypeOf<typeof Attempt>;

export interface ClaimOptions {
  /** An attempt that is under way for longer counts as interrupted. */
  readonly leaseSeconds: number;
  readonly expiryHours: number;
  /**
   * Marks the claims of one caller. It also gets back what is `sending` by its own claim: its answer was lost. So it must not
   * ask for a delivery that it was given before. Absent: nothing is given back.
   */
  readonly claimedBy?: string;
}

/**
 * Compare-and-set from `pending` to `sending`: only the caller that gets a delivery back may dial. A delivery that must not be
 * dialled (configuration gone or disabled, event gone or erased, body too large, too old) becomes `failed` in the same
 * statement, and comes back with its `refusal`. One whose webhook was paused after the hand-out is replaced by a new delivery
 * that waits, because the workflow of a delivery runs once. Deliveries locked by another transaction stay as they are.
 */
export async function claimAttempts(
  connection: Connection,
  ids: readonly string[],
  { leaseSeconds, expiryHours, claimedBy }: ClaimOptions,
): Promise<readonly Attempt[]> {
  const claimer = sql.fragment`${claimedBy ?? null}::uuid`;
  const claimable = sql.fragment`(webhook_delivery.state = 'pending'
    OR webhook_delivery.state = 'sending' AND webhook_delivery.claimed_by = ${claimer} AND webhook_delivery.sending_until > now())`;
  // A separate statement, so that the bodies are looked up only in the partitions of these events.
  const eventIds = await connection.anyFirst(sql.type(Id)`
    SELECT event_id AS id FROM webhook_delivery WHERE ${amongIds(ids)} AND ${claimable}`);
  if (eventIds.length === 0) return [];
  const given = amongIds(ids, sql.fragment`webhook_delivery.id`);
  return connection.any(sql.type(row(Attempt))`
    WITH held AS MATERIALIZED (
      SELECT id FROM webhook_delivery
      WHERE ${given} AND ${claimable}
      FOR NO KEY UPDATE SKIP LOCKED
    ), source AS (
      SELECT webhook_delivery.id, event.body, webhook_configuration.url,
        webhook_configuration.secret_encrypted,
        CASE WHEN webhook_configuration.previous_secret_expires_at > now()
          THEN webhook_configuration.previous_secret_encrypted END AS previous_secret_encrypted,
        CASE
          WHEN webhook_configuration.status = 'disabled' THEN 'disabled'
          WHEN webhook_configuration.id IS NULL THEN 'endpoint_inactive'
          -- Retention may have removed the event of a delivery that waited for long.
          WHEN event.id IS NULL OR webhook_delivery.created_at < now() - make_interval(hours => ${expiryHours}) THEN 'expired'
          WHEN ${isErased} THEN 'erased'
          WHEN octet_length(event.body) > ${maxPayloadBytes} OR right(event.body, ${tooLargeEnd.length}) = ${tooLargeEnd} THEN 'payload_too_large'
        END AS refusal,
        COALESCE(webhook_configuration.status = 'inactive', false) AS paused
      FROM webhook_delivery JOIN held USING (id)
      LEFT JOIN event ON event.id = webhook_delivery.event_id AND ${amongIds(eventIds, sql.fragment`event.id`)}
      LEFT JOIN webhook_configuration ON webhook_configuration.id = webhook_delivery.webhook_id
      WHERE ${given}
    ), replaced AS (
      DELETE FROM webhook_delivery USING source
      WHERE webhook_delivery.id = source.id AND source.paused AND source.refusal IS NULL AND ${given} AND ${claimable}
      RETURNING webhook_delivery.workspace_id, webhook_delivery.webhook_id, webhook_delivery.event_id,
        webhook_delivery.event_key, webhook_delivery.cause, webhook_delivery.created_at
    ), waiting AS (
      INSERT INTO webhook_delivery (workspace_id, webhook_id, event_id, event_key, cause, created_at) SELECT * FROM replaced
    ), claimed AS (
      UPDATE webhook_delivery SET
        state = CASE WHEN source.refusal IS NULL THEN 'sending' ELSE 'failed' END,
        error_code = source.refusal,
        dispatched_at = COALESCE(dispatched_at, now()),
        attempted_at = CASE WHEN source.refusal IS NULL THEN now() END,
        sending_until = CASE WHEN source.refusal IS NULL THEN now() + make_interval(secs => ${leaseSeconds}) END,
        claimed_by = ${claimer}
      FROM source
      WHERE webhook_delivery.id = source.id AND NOT (source.paused AND source.refusal IS NULL) AND ${given} AND ${claimable}
      RETURNING webhook_delivery.id, webhook_delivery.workspace_id, webhook_delivery.webhook_id,
        webhook_delivery.event_id, webhook_delivery.event_key
    )
    SELECT claimed.id, claimed.workspace_id AS "workspaceId", claimed.webhook_id AS "webhookId",
      claimed.event_id AS "eventId", claimed.event_key AS "eventKey", source.refusal,
      CASE WHEN source.refusal IS NULL THEN source.url ELSE '' END AS url,
      CASE WHEN source.refusal IS NULL THEN source.body ELSE '' END AS body,
      source.secret_encrypted AS "secretEncrypted", source.previous_secret_encrypted AS "previousSecretEncrypted"
    FROM claimed JOIN source ON source.id = claimed.id`);
}

/** Deliveries that could not be claimed and are still pending: another transaction held their rows. */
export async function listStillPending(
  connection: Connection,
  ids: readonly string[],
): Promise<readonly string[]> {
  return connection.anyFirst(sql.type(Id)`
    SELECT id FROM webhook_delivery WHERE ${amongIds(ids)} AND state = 'pending'`);
}

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
