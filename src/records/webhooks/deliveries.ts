/** The delivery log as customers read it. What the relay and the worker do with it is in `webhook-dispatch.ts` and `webhook-attempts.ts`. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import { NotFound } from '../../domain/error.ts';
import type { EventKey } from '../../domain/webhooks/event-key.ts';
import type { DeliveryCause, DeliveryState } from '../../domain/webhooks/delivery.ts';
import { deliveryStates, webhookErrorCodes } from '../../domain/webhooks/delivery.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row, timestamp } from '../database/row.ts';

const WebhookDelivery = t.type({
  id: t.string,
  webhookId: t.string,
  eventId: t.string,
  eventKey: t.string,
  state: oneOf(deliveryStates),
  errorCode: nullable(oneOf(webhookErrorCodes)),
  responseStatus: nullable(t.number),
  responseExcerpt: nullable(t.string),
  durationMs: nullable(t.number),
  attemptedAt: nullable(timestamp),
  createdAt: timestamp,
});
export type WebhookDelivery = t.TypeOf<typeof WebhookDelivery>;
const WebhookDeliveryRow = row(WebhookDelivery);

const selection = sql.fragment`
  id, webhook_id AS "webhookId", event_id AS "eventId", event_key AS "eventKey", state, error_code AS "errorCode",
  response_status AS "responseStatus", response_excerpt AS "responseExcerpt", duration_ms AS "durationMs",
  attempted_at AS "attemptedAt", created_at AS "createdAt"`;

export interface DeliveryFilter {
  readonly states: readonly DeliveryState[];
  readonly eventKeys: readonly EventKey[];
  /** The last delivery of the page before. */
  readonly beforeId: string | undefined;
  readonly limit: number;
}

/** Newest first; empty lists filter nothing. */
export async function listWebhookDeliveries(
  connection: Connection,
  workspaceId: number,
  webhookId: string,
  filter: DeliveryFilter,
): Promise<readonly WebhookDelivery[]> {
  const conditions = [
    sql.fragment`workspace_id = ${workspaceId}`,
    sql.fragment`webhook_id = ${webhookId}`,
    filter.beforeId === undefined ? undefined : sql.fragment`id < ${filter.beforeId}`,
    filter.states.length === 0
      ? undefined
      : sql.fragment`state = ANY (${sql.array([...filter.states], 'text')})`,
    filter.eventKeys.length === 0
      ? undefined
      : sql.fragment`event_key = ANY (${sql.array([...filter.eventKeys], 'text')})`,
  ].filter((condition) => condition !== undefined);
  return connection.any(sql.type(WebhookDeliveryRow)`
    SELECT ${selection} FROM webhook_delivery
    WHERE ${sql.join(conditions, sql.fragment` AND `)}
    ORDER BY id DESC
    LIMIT ${filter.limit}`);
}

export interface DeliveryPlace {
  readonly webhookId: string;
  readonly deliveryId: string;
}

export async function getWebhookDelivery(
  connection: Connection,
  workspaceId: number,
  { webhookId, deliveryId }: DeliveryPlace,
): Promise<WebhookDelivery> {
  const found = await connection.maybeOne(sql.type(WebhookDeliveryRow)`
    SELECT ${selection} FROM webhook_delivery
    WHERE workspace_id = ${workspaceId} AND webhook_id = ${webhookId} AND id = ${deliveryId}`);
  if (found === null) throw new NotFound('Delivery');
  return found;
}

export interface NewDelivery {
  readonly webhookId: string;
  readonly eventId: string;
  readonly cause: Exclude<DeliveryCause, 'event'>;
}

/**
 * A delivery somebody asked for; the relay takes it up like any other. Throws NotFound when the event is too old to be kept:
 * a delivery that was asked for late outlives it.
 */
export async function insertWebhookDelivery(
  connection: Connection,
  workspaceId: number,
  { webhookId, eventId, cause }: NewDelivery,
): Promise<WebhookDelivery> {
  const inserted = await connection.maybeOne(sql.type(WebhookDeliveryRow)`
    INSERT INTO webhook_delivery (workspace_id, webhook_id, event_id, event_key, cause)
    SELECT ${workspaceId}, ${webhookId}, event.id, event.key, ${cause}
    FROM event WHERE event.workspace_id = ${workspaceId} AND event.id = ${eventId}
    RETURNING ${selection}`);
  if (inserted === null) throw new NotFound('Event');
  return inserted;
}
