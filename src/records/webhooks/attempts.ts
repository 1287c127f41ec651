/** Permission for the one attempt of each delivery; many in one statement. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { maxPayloadBytes } from '../../domain/webhooks/delivery.ts';
import { tooLargeEnd } from '../../domain/webhooks/new-event.ts';
import type { Connection } from '../database/database.ts';
import { amongIds } from '../database/id-bounds.ts';
import { bytes, nullable, row } from '../database/row.ts';
import { isErased } from './erased-event.ts';

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
 * dialled (configuration gone or inactive, event gone or erased, body too large, too old) becomes `failed` in the same
 * statement, and comes back with its `refusal`. Deliveries locked by another transaction stay as they are.
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
          WHEN webhook_configuration.id IS NULL OR webhook_configuration.status <> 'active' THEN 'endpoint_inactive'
          -- Retention may have removed the event of a delivery that waited for long.
          WHEN event.id IS NULL OR webhook_delivery.created_at < now() - make_interval(hours => ${expiryHours}) THEN 'expired'
          WHEN ${isErased} THEN 'erased'
          WHEN octet_length(event.body) > ${maxPayloadBytes} OR right(event.body, ${tooLargeEnd.length}) = ${tooLargeEnd} THEN 'payload_too_large'
        END AS refusal
      FROM webhook_delivery JOIN held USING (id)
      LEFT JOIN event ON event.id = webhook_delivery.event_id AND ${amongIds(eventIds, sql.fragment`event.id`)}
      LEFT JOIN webhook_configuration ON webhook_configuration.id = webhook_delivery.webhook_id
      WHERE ${given}
    ), claimed AS (
      UPDATE webhook_delivery SET
        state = CASE WHEN source.refusal IS NULL THEN 'sending' ELSE 'failed' END,
        error_code = source.refusal,
        dispatched_at = COALESCE(dispatched_at, now()),
        attempted_at = CASE WHEN source.refusal IS NULL THEN now() END,
        sending_until = CASE WHEN source.refusal IS NULL THEN now() + make_interval(secs => ${leaseSeconds}) END,
        claimed_by = ${claimer}
      FROM source
      WHERE webhook_delivery.id = source.id AND ${given} AND ${claimable}
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
