/** The delivery log as customers read it. The scheduler's side of the table is in `delivery-scheduler.ts`, the worker's in `attempts.ts`. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import { notFound } from '../../domain/error.ts';
import type { EventKey } from '../../domain/webhooks/event-key.ts';
import type { DeliveryCause, DeliveryState, WebhookErrorCode } from '../../domain/webhooks/delivery.ts';
import { deliveryStates, webhookErrorCodes } from '../../domain/webhooks/delivery.ts';
import type { Connection } from '../database/database.ts';
import { listCursorPage, type CursorPage } from '../database/page.ts';
import { nullable, row, timestamp } from '../database/row.ts';
import { firstIdAt } from '../database/uuid-v7.ts';
import { erasedBody, isErased } from './events.ts';
import { ofWebhook, waits } from './delivery-scheduler.ts';

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

type Fragment = ReturnType<typeof sql.fragment>;

// Hides an excerpt that may repeat the data of an erased event. Only workspaces with an unfinished erasure read the event.
const shownExcerpt = sql.fragment`
  CASE WHEN NOT EXISTS (SELECT FROM erasure WHERE erasure.workspace_id = webhook_delivery.workspace_id)
    OR NOT EXISTS (SELECT FROM event WHERE event.id = webhook_delivery.event_id AND ${isErased}) THEN response_excerpt END`;

const selection = sql.fragment`
  id, webhook_id AS "webhookId", event_id AS "eventId", event_key AS "eventKey", state, error_code AS "errorCode",
  response_status AS "responseStatus", ${shownExcerpt} AS "responseExcerpt", duration_ms AS "durationMs",
  attempted_at AS "attemptedAt", created_at AS "createdAt"`;

export interface DeliveryFilter {
  /** Undefined: of every configuration of the workspace. */
  readonly webhookId?: string;
  readonly states: readonly DeliveryState[];
  readonly eventKeys?: readonly EventKey[];
  readonly errorCodes?: readonly WebhookErrorCode[];
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  /** The last delivery of the page before. */
  readonly beforeId: string | undefined;
  readonly limit: number;
}

interface Reading {
  readonly which: Fragment;
  /** The order of the index: with another one Postgres might walk the primary key backwards past millions of rows. */
  readonly order: Fragment;
}
const newest = sql.fragment`webhook_id, id DESC`;

/** How each state is read: by an index of its own, because only a few of millions of rows may be in it. */
const readings: Readonly<Record<DeliveryState, readonly Reading[]>> = {
  pending: [
    {
      which: sql.fragment`${waits(undefined)} AND ${ofWebhook(sql.fragment`configuration.id`)}`,
      order: sql.fragment`uuid_hash(webhook_id) DESC, webhook_id DESC, id DESC`,
    },
    { which: sql.fragment`state = 'pending' AND dispatched_at IS NOT NULL`, order: newest },
  ],
  sending: [{ which: sql.fragment`state = 'sending' AND dispatched_at IS NOT NULL`, order: newest }],
  delivered: [{ which: sql.fragment`state = 'delivered'`, order: newest }],
  failed: [{ which: sql.fragment`state = 'failed'`, order: newest }],
};
const anyState: readonly Reading[] = [{ which: sql.fragment`TRUE`, order: newest }];
/** Deliveries that one request resends: a million in one statement would exceed its timeout. */
const mostResent = 10_000;
/** 60 s: the longest time between the start of a transaction and the id of a delivery it inserts. */
export const longestMakingMs = 60_000;

/** Newest first; empty lists filter nothing. */
export async function listDeliveries(
  connection: Connection,
  workspaceId: number,
  { webhookId, states, eventKeys = [], errorCodes = [], from, to, beforeId, limit }: DeliveryFilter,
): Promise<CursorPage<WebhookDelivery>> {
  const when = <A>(value: A | undefined, condition: (given: A) => Fragment) =>
    value === undefined ? [] : [condition(value)];
  const among = (column: Fragment, values: readonly string[]) =>
    values.length === 0 ? [] : [sql.fragment`${column} = ANY (${sql.array(values, 'text')})`];
  const matching = sql.join(
    [
      sql.fragment`webhook_id BETWEEN configuration.id AND configuration.id`,
      ...among(sql.fragment`state`, states),
      ...among(sql.fragment`event_key`, eventKeys),
      ...among(sql.fragment`error_code`, errorCodes),
      ...when(beforeId, (id) => sql.fragment`id < ${id}`),
      // An id carries the time of its insertion, a moment after its transaction began.
      ...when(from, (date) => sql.fragment`id >= ${firstIdAt(date)} AND created_at >= ${date.toISOString()}`),
      ...when(
        to,
        (date) =>
          sql.fragment`id < ${firstIdAt(date, longestMakingMs)} AND created_at < ${date.toISOString()}`,
      ),
    ],
    sql.fragment` AND `,
  );
  const wanted = errorCodes.length > 0 ? readings.failed : states.flatMap((state) => readings[state]);
  const parts = (wanted.length > 0 ? wanted : anyState).map(
    ({ which, order }) => sql.fragment`(SELECT ${selection} FROM webhook_delivery
      WHERE ${matching} AND ${which} ORDER BY ${order} LIMIT ${limit + 1})`,
  );
  return listCursorPage(connection, {
    props: WebhookDelivery.props,
    rows: sql.fragment`
      SELECT found.* FROM webhook_configuration AS configuration
      CROSS JOIN LATERAL (${sql.join(parts, sql.fragment` UNION ALL `)}) AS found
      WHERE ${sql.join(
        [
          sql.fragment`configuration.workspace_id = ${workspaceId}`,
          ...when(webhookId, (id) => sql.fragment`configuration.id = ${id}`),
        ],
        sql.fragment` AND `,
      )}
      ORDER BY found.id DESC LIMIT ${limit + 1}`,
    order: sql.fragment`id DESC`,
    size: sql.fragment`COALESCE(octet_length("responseExcerpt"), 0)`,
    limit,
  });
}

const Resent = row(t.type({ count: t.number }));
const Span = row(t.type({ first: nullable(t.string), last: nullable(t.string) }));

/**
 * Inserts a delivery for every event whose deliveries failed in the span and which has neither been delivered since nor waits
 * again, the earliest `mostResent` of them; returns their number. Idempotent: a second call finds the first one's waiting.
 */
export async function resendFailedDeliveries(
  connection: Connection,
  workspaceId: number,
  { webhookId, since, until }: { readonly webhookId: string; readonly since: Date; readonly until: Date },
): Promise<number> {
  const failed = sql.fragment`
    SELECT DISTINCT event_id FROM webhook_delivery
    WHERE workspace_id = ${workspaceId} AND webhook_id = ${webhookId} AND state = 'failed'
      AND id >= ${firstIdAt(since)} AND id < ${firstIdAt(until, longestMakingMs)}
      AND created_at >= ${since.toISOString()} AND created_at < ${until.toISOString()}`;
  const { first, last } = await connection.one(sql.type(Span)`
    SELECT min(event_id::text COLLATE "C") AS first, max(event_id::text COLLATE "C") AS last FROM (${failed}) AS failed`);
  if (first === null) return 0;
  // Looks deliveries up by event, with an index for each cause: by configuration, all of its deliveries would be read.
  const unfailed = (cause: Fragment) => sql.fragment`
    SELECT FROM webhook_delivery
    WHERE event_id = event.id AND (webhook_id = ${webhookId}) IS TRUE AND ${cause}
      AND state <> 'failed' OFFSET 0`;
  return connection.oneFirst(sql.type(Resent)`
    WITH failed AS (${failed}), resent AS (
      INSERT INTO webhook_delivery (workspace_id, webhook_id, event_id, event_key, cause)
      SELECT ${workspaceId}, ${webhookId}, event.id, event.key, 'resend'
      FROM failed JOIN event ON event.id = failed.event_id AND event.id BETWEEN ${first} AND ${last}
      WHERE NOT EXISTS (${unfailed(sql.fragment`cause = 'event'`)})
        AND NOT EXISTS (${unfailed(sql.fragment`cause <> 'event'`)})
      ORDER BY event.id LIMIT ${mostResent}
      RETURNING id
    )
    SELECT count(*)::int4 AS count FROM resent`);
}

/** `payload` is the body as it is sent; null when the event is too old to be kept. */
const WebhookDeliveryDetail = t.type({ ...WebhookDelivery.props, payload: nullable(t.string) });

export async function getWebhookDelivery(
  connection: Connection,
  workspaceId: number,
  { webhookId, deliveryId }: { readonly webhookId: string; readonly deliveryId: string },
): Promise<t.TypeOf<typeof WebhookDeliveryDetail>> {
  const found = await connection.maybeOne(sql.type(row(WebhookDeliveryDetail))`
    SELECT ${selection}, (SELECT CASE WHEN ${isErased} THEN ${erasedBody} ELSE body END FROM event
      WHERE event.id = webhook_delivery.event_id) AS payload FROM webhook_delivery
    WHERE workspace_id = ${workspaceId} AND webhook_id = ${webhookId} AND id = ${deliveryId}`);
  return found ?? notFound('Delivery');
}

export interface NewDelivery {
  readonly webhookId: string;
  readonly eventId: string;
  readonly cause: Exclude<DeliveryCause, 'event'>;
}

/**
 * Inserts a delivery that a caller asked for (a resend or a test); it is scheduled like any other. Throws NotFound when
 * retention has removed the event.
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
  return inserted ?? notFound('Event');
}
