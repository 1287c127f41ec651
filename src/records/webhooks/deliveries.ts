/** The delivery log as customers read it. What the relay and the worker do with it is in `webhook-dispatch.ts` and `webhook-attempts.ts`. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import { NotFound } from '../../domain/error.ts';
import type { EventKey } from '../../domain/webhooks/event-key.ts';
import type { DeliveryCause, DeliveryState, WebhookErrorCode } from '../../domain/webhooks/delivery.ts';
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
  return connection.any(sql.type(row(WebhookDelivery))`
    SELECT ${selection} FROM webhook_delivery
    WHERE ${sql.join(conditions, sql.fragment` AND `)}
    ORDER BY id DESC
    LIMIT ${filter.limit}`);
}

export interface WorkspaceDeliveryFilter {
  readonly states: readonly DeliveryState[];
  readonly errorCodes: readonly WebhookErrorCode[];
  readonly from: Date | undefined;
  readonly to: Date | undefined;
  readonly beforeId: string | undefined;
  readonly limit: number;
}

/** Over all configurations of the workspace, newest first; empty lists filter nothing. */
export async function listDeliveriesOfWorkspace(
  connection: Connection,
  workspaceId: number,
  { states, errorCodes, from, to, beforeId, limit }: WorkspaceDeliveryFilter,
): Promise<readonly WebhookDelivery[]> {
  const conditions = [
    sql.fragment`webhook_delivery.workspace_id = ${workspaceId}`,
    ...(beforeId === undefined ? [] : [sql.fragment`id < ${beforeId}`]),
    ...(states.length === 0 ? [] : [sql.fragment`state = ANY (${sql.array([...states], 'text')})`]),
    ...(errorCodes.length === 0
      ? []
      : [sql.fragment`state = 'failed' AND error_code = ANY (${sql.array([...errorCodes], 'text')})`]),
    ...(from === undefined ? [] : [sql.fragment`created_at >= ${from.toISOString()}`]),
    ...(to === undefined ? [] : [sql.fragment`created_at < ${to.toISOString()}`]),
  ];
  const matching = sql.join(conditions, sql.fragment` AND `);
  // What failed has an index over the workspace; the whole log has one by configuration, of which there are few.
  if (errorCodes.length > 0 || (states.length === 1 && states[0] === 'failed')) {
    return connection.any(sql.type(row(WebhookDelivery))`
      SELECT ${selection} FROM webhook_delivery WHERE state = 'failed' AND ${matching} ORDER BY id DESC LIMIT ${limit}`);
  }
  return connection.any(sql.type(row(WebhookDelivery))`
    SELECT found.* FROM webhook_configuration CROSS JOIN LATERAL (
      SELECT ${selection} FROM webhook_delivery
      WHERE webhook_id = webhook_configuration.id AND ${matching} ORDER BY id DESC LIMIT ${limit}
    ) AS found
    WHERE webhook_configuration.workspace_id = ${workspaceId}
    ORDER BY found.id DESC LIMIT ${limit}`);
}

export interface ResendSpan {
  readonly webhookId: string;
  readonly since: Date;
  readonly until: Date;
}

const Resent = row(t.type({ count: t.number }));

/**
 * A new delivery for every event whose deliveries of the span failed and which nothing has delivered since; how many. Asking
 * twice does not deliver twice: what waits already is left out.
 */
export async function resendFailedDeliveries(
  connection: Connection,
  workspaceId: number,
  { webhookId, since, until }: ResendSpan,
): Promise<number> {
  return connection.oneFirst(sql.type(Resent)`
    WITH failed AS (
      SELECT DISTINCT event_id FROM webhook_delivery
      WHERE workspace_id = ${workspaceId} AND webhook_id = ${webhookId} AND state = 'failed'
        AND created_at >= ${since.toISOString()} AND created_at < ${until.toISOString()}
    ), resent AS (
      INSERT INTO webhook_delivery (workspace_id, webhook_id, event_id, event_key, cause)
      SELECT ${workspaceId}, ${webhookId}, event.id, event.key, 'resend'
      FROM failed JOIN event ON event.id = failed.event_id
      WHERE NOT EXISTS (
        SELECT FROM webhook_delivery AS other
        WHERE other.event_id = event.id AND other.webhook_id = ${webhookId} AND other.state <> 'failed')
      RETURNING id
    )
    SELECT count(*)::int4 AS count FROM resent`);
}

/** `payload` is the body as it is sent; null when the event is too old to be kept. */
const WebhookDeliveryDetail = t.type({ ...WebhookDelivery.props, payload: nullable(t.string) });

export interface DeliveryPlace {
  readonly webhookId: string;
  readonly deliveryId: string;
}

export async function getWebhookDelivery(
  connection: Connection,
  workspaceId: number,
  { webhookId, deliveryId }: DeliveryPlace,
): Promise<t.TypeOf<typeof WebhookDeliveryDetail>> {
  const found = await connection.maybeOne(sql.type(row(WebhookDeliveryDetail))`
    SELECT ${selection}, (SELECT body FROM event WHERE event.id = event_id) AS payload FROM webhook_delivery
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
  const inserted = await connection.maybeOne(sql.type(row(WebhookDelivery))`
    INSERT INTO webhook_delivery (workspace_id, webhook_id, event_id, event_key, cause)
    SELECT ${workspaceId}, ${webhookId}, event.id, event.key, ${cause}
    FROM event WHERE event.workspace_id = ${workspaceId} AND event.id = ${eventId}
    RETURNING ${selection}`);
  if (inserted === null) throw new NotFound('Event');
  return inserted;
}
