/** Statuses of provider message ids we do not know: they wait for our own record, then count as somebody else's message. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nothing, row } from '../database/row.ts';

export interface NewParkedStatus {
  readonly channelId: string;
  readonly providerMessageId: string;
  readonly status: string;
  /** The provider's object as JSON text. */
  readonly body: string;
}

/** A status is parked once; told again, it changes nothing. */
export async function parkStatuses(
  connection: Connection,
  statuses: readonly NewParkedStatus[],
): Promise<void> {
  if (statuses.length === 0) return;
  const rows = statuses.map(({ channelId, providerMessageId, status, body }) => [
    channelId,
    providerMessageId,
    status,
    body,
  ]);
  await connection.query(sql.type(nothing)`
    INSERT INTO parked_status (channel_id, provider_message_id, status, body)
    SELECT parked.channel_id, parked.provider_message_id, parked.status, parked.body
    FROM ${sql.unnest(rows, ['uuid', 'text', 'text', 'text'])}
      AS parked (channel_id, provider_message_id, status, body)
    ORDER BY 1, 2, 3
    ON CONFLICT (channel_id, provider_message_id, status) DO NOTHING`);
}

const ParkedStatus = t.type({
  id: t.bigint,
  body: t.string,
  channel_id: t.string,
  workspace_id: t.number,
  phone_number_id: t.string,
});
export type ParkedStatus = t.TypeOf<typeof ParkedStatus>;

const selection = sql.fragment`
  parked_status.id, parked_status.body, channel.id AS channel_id, channel.workspace_id, channel.phone_number_id`;

// What has become known was written after the status was parked. One look into an index each (LIMIT keeps it from becoming a
// join, for which all messages of a month are read).
const isKnown = sql.fragment`(
  (SELECT true FROM provider_message
    -- A statement that began before midnight carries the day before, although it became visible after the status was parked.
    WHERE provider_message.day >= (parked_status.parked_at AT TIME ZONE 'UTC' - interval '1 hour')::date
      AND provider_message.hash = hashtextextended(parked_status.provider_message_id, 0) LIMIT 1) IS TRUE
  OR (SELECT true FROM message
    WHERE message.provider_message_id = parked_status.provider_message_id AND message.direction = 'outbound' LIMIT 1) IS TRUE)`;

export interface KnownStatuses {
  /** Undefined: however long ago they were parked. */
  readonly withinSeconds: number | undefined;
  readonly limit: number;
  /** This one alone. */
  readonly id?: bigint;
}

/** Locks parked statuses whose message has become known. */
export function claimKnownStatuses(connection: Connection, { withinSeconds, limit, id }: KnownStatuses) {
  return connection.any(sql.type(row(ParkedStatus))`
    SELECT ${selection}
    FROM parked_status JOIN channel ON channel.id = parked_status.channel_id
    WHERE parked_status.emitted_at IS NULL
      AND ${withinSeconds === undefined ? sql.fragment`TRUE` : sql.fragment`parked_status.parked_at > now() - make_interval(secs => ${withinSeconds})`}
      AND ${id === undefined ? sql.fragment`TRUE` : sql.fragment`parked_status.id = ${id}`}
      AND ${isKnown}
    ORDER BY parked_status.parked_at, parked_status.id
    LIMIT ${limit}
    FOR UPDATE OF parked_status SKIP LOCKED`);
}

// One whose message seems to be known and is not (another channel's has the same id) is not parked for ever.
const longestDoubtSeconds = 60;

/** Locks parked statuses that have waited longer than `afterSeconds`, and whose message has not become known meanwhile. */
export async function claimExpiredStatuses(
  connection: Connection,
  { afterSeconds, limit }: { readonly afterSeconds: number; readonly limit: number },
): Promise<readonly ParkedStatus[]> {
  return connection.any(sql.type(row(ParkedStatus))`
    SELECT ${selection}
    FROM parked_status JOIN channel ON channel.id = parked_status.channel_id
    WHERE parked_status.emitted_at IS NULL
      AND parked_status.parked_at <= now() - make_interval(secs => ${afterSeconds})
      AND (NOT ${isKnown} OR parked_status.parked_at <= now() - make_interval(secs => ${afterSeconds + longestDoubtSeconds}))
    ORDER BY parked_status.parked_at
    LIMIT ${limit}
    FOR UPDATE OF parked_status SKIP LOCKED`);
}

export async function deleteParkedStatuses(connection: Connection, ids: readonly bigint[]): Promise<void> {
  await connection.query(sql.type(nothing)`
    DELETE FROM parked_status WHERE id = ANY(${sql.array(ids, 'int8')})`);
}

/** Their events are out, or they were put aside; the rows stay for inspection and against repetition. */
export async function markParkedStatusesEmitted(connection: Connection, ids: readonly bigint[]) {
  await connection.query(sql.type(nothing)`
    UPDATE parked_status SET emitted_at = now() WHERE id = ANY(${sql.array(ids, 'int8')})`);
}
