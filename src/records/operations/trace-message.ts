/**
 * Collects what is known about one message: its row, unmatched statuses, its events and their deliveries, without numbers and
 * texts.
 */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nullable, row, timestamp } from '../database/row.ts';
import { firstIdAt } from '../database/uuid-v7.ts';

const Traced = t.type({
  id: t.string,
  workspace_id: t.number,
  channel_id: t.string,
  campaign_id: nullable(t.string),
  /** Place in the campaign; null for a single send and an inbound message. */
  position: nullable(t.number),
  source: t.string,
  state: t.string,
  reason: nullable(t.string),
  attempts: nullable(t.number),
  provider_message_id: nullable(t.string),
  settlement: t.string,
  accepted_at: nullable(timestamp),
  sent_at: nullable(timestamp),
  delivered_at: nullable(timestamp),
  read_at: nullable(timestamp),
  updated_at: timestamp,
});
export type TracedMessage = t.TypeOf<typeof Traced>;

/** A recipient of a campaign or another message; null when there is no such id. */
export function findTracedMessage(connection: Connection, id: string): Promise<TracedMessage | null> {
  return connection.maybeOne(sql.type(row(Traced))`
    SELECT recipient.id, campaign.workspace_id, campaign.channel_id, campaign_id, position, 'campaign' AS source,
      recipient.state, recipient.reason, recipient.attempts::int4 AS attempts, provider_message_id, recipient.settlement, accepted_at,
      sent_at, delivered_at, read_at, recipient.updated_at
    FROM recipient JOIN campaign ON campaign.id = recipient.campaign_id WHERE recipient.id = ${id}
    UNION ALL
    SELECT id, workspace_id, channel_id, campaign_id, NULL, source, state, reason, NULL, provider_message_id, settlement, created_at,
      NULL, NULL, NULL, updated_at
    FROM message WHERE id = ${id}`);
}

const Status = row(t.type({ status: t.string, received_at: timestamp, emitted_at: nullable(timestamp) }));

/** Statuses of the provider that came before the message was recorded, or that matched none. */
export function listStatusesApart(
  connection: Connection,
  { channel_id: channelId, provider_message_id: id }: TracedMessage,
) {
  return connection.any(sql.type(Status)`
    SELECT status, received_at, emitted_at FROM unmatched_status
    WHERE channel_id = ${channelId} AND provider_message_id = ${id} ORDER BY received_at`);
}

const Event = t.type({ id: t.string, key: t.string, occurred_at: timestamp });
const Delivery = t.type({
  id: t.string,
  event_id: t.string,
  webhook_id: t.string,
  cause: t.string,
  state: t.string,
  error_code: nullable(t.string),
  response_status: nullable(t.number),
  attempted_at: nullable(timestamp),
});

/** Events are not indexed by message: those written within a quarter of an hour after one of its times are read. */
const eventWindowMs = 15 * 60_000;
const clockToleranceMs = 60_000;

export async function listEventsOfMessage(connection: Connection, message: TracedMessage) {
  const times = [
    message.accepted_at,
    message.sent_at,
    message.delivered_at,
    message.read_at,
    message.updated_at,
  ];
  const windows = times.flatMap((time) =>
    time === null
      ? []
      : sql.fragment`(id >= ${firstIdAt(time, -clockToleranceMs)} AND id < ${firstIdAt(time, eventWindowMs)})`,
  );
  const events = await connection.any(sql.type(row(Event))`
    SELECT id, key, occurred_at FROM event
    WHERE workspace_id = ${message.workspace_id} AND (${sql.join(windows, sql.fragment` OR `)})
      AND strpos(body, ${`"messageId":"${message.id}"`}) > 0
    ORDER BY id`);
  const deliveries = await connection.any(sql.type(row(Delivery))`
    SELECT id, event_id, webhook_id, cause, state, error_code, response_status::int4 AS response_status, attempted_at FROM webhook_delivery
    WHERE event_id = ANY (${sql.array(
      events.map(({ id }) => id),
      'uuid',
    )}) ORDER BY id`);
  return events.map((event) => ({
    ...event,
    deliveries: deliveries.filter(({ event_id: eventId }) => eventId === event.id),
  }));
}
