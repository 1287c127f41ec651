/**
 * Statuses whose provider message id is not known yet. They wait for our record of the message. If it does not come in time, the
 * message counts as another application's.
 */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nothing, row } from '../database/row.ts';

export interface NewUnmatchedStatus {
  readonly channelId: string;
  readonly providerMessageId: string;
  readonly status: string;
  /** The provider's object as JSON text. */
  readonly body: string;
}

/** 5,000 rows per statement: the driver serialises all parameters of a statement without yielding to other work. */
const rowsAtOnce = 5_000;

/** Stores each status once; a repeated one changes nothing. All writers insert in one order, so that none deadlock. */
export async function insertUnmatchedStatuses(
  connection: Connection,
  statuses: readonly NewUnmatchedStatus[],
): Promise<void> {
  const keyed = statuses.map((status) => ({ status, key: keyOf(status) }));
  const ordered = keyed.toSorted((one, other) => (one.key < other.key ? -1 : Number(one.key > other.key)));
  for (let from = 0; from < ordered.length; from += rowsAtOnce)
    await insertSome(
      connection,
      ordered.slice(from, from + rowsAtOnce).map(({ status }) => status),
    );
}

const keyOf = ({ channelId, providerMessageId, status }: NewUnmatchedStatus): string =>
  `${channelId} ${providerMessageId} ${status}`;

async function insertSome(connection: Connection, statuses: readonly NewUnmatchedStatus[]): Promise<void> {
  const rows = statuses.map(({ channelId, providerMessageId, status, body }) => [
    channelId,
    providerMessageId,
    status,
    body,
  ]);
  await connection.query(sql.type(nothing)`
    INSERT INTO unmatched_status (channel_id, provider_message_id, status, body)
    SELECT unmatched.channel_id, unmatched.provider_message_id, unmatched.status, unmatched.body
    FROM ${sql.unnest(rows, ['uuid', 'text', 'text', 'text'])}
      AS unmatched (channel_id, provider_message_id, status, body)
    ON CONFLICT (channel_id, provider_message_id, status) DO NOTHING`);
}

const UnmatchedStatus = t.type({
  id: t.bigint,
  body: t.string,
  channel_id: t.string,
  workspace_id: t.number,
  phone_number_id: t.string,
});
export type UnmatchedStatus = t.TypeOf<typeof UnmatchedStatus>;

const selection = sql.fragment`
  unmatched_status.id, unmatched_status.body, channel.id AS channel_id, channel.workspace_id, channel.phone_number_id`;

// OFFSET 0 keeps one lookup each: a join may read all statuses of every channel.
const itsChannel = sql.fragment`CROSS JOIN LATERAL (
  SELECT id, workspace_id, phone_number_id FROM channel WHERE channel.id = unmatched_status.channel_id OFFSET 0) AS channel`;

// A message that is known now was written after its status arrived. Each subquery probes an index once; LIMIT keeps the planner
// from making it a join that reads a month of messages.
const isKnown = sql.fragment`(
  (SELECT true FROM provider_message
    -- A statement that began before midnight stores the previous day, although it commits after the status arrived.
    WHERE provider_message.day >= (unmatched_status.received_at AT TIME ZONE 'UTC' - interval '1 hour')::date
      AND provider_message.hash = hashtextextended(unmatched_status.provider_message_id, 0) LIMIT 1) IS TRUE
  OR (SELECT true FROM message
    WHERE message.provider_message_id = unmatched_status.provider_message_id AND message.direction = 'outbound' LIMIT 1) IS TRUE)`;

export interface KnownStatuses {
  /** Undefined: statuses of any age. */
  readonly withinSeconds: number | undefined;
  readonly limit: number;
  /** Only this status. */
  readonly id?: bigint;
}

/** Locks unmatched statuses whose message has become known. */
export function claimKnownStatuses(connection: Connection, { withinSeconds, limit, id }: KnownStatuses) {
  return connection.any(sql.type(row(UnmatchedStatus))`
    SELECT ${selection}
    FROM unmatched_status ${itsChannel}
    WHERE unmatched_status.emitted_at IS NULL
      AND ${withinSeconds === undefined ? sql.fragment`TRUE` : sql.fragment`unmatched_status.received_at > now() - make_interval(secs => ${withinSeconds})`}
      AND ${id === undefined ? sql.fragment`TRUE` : sql.fragment`unmatched_status.id = ${id}`}
      AND ${isKnown}
    ORDER BY unmatched_status.received_at, unmatched_status.id
    LIMIT ${limit}
    FOR UPDATE OF unmatched_status SKIP LOCKED`);
}

// 60 s: a status that seems to match, because another channel has a message of the same hash, expires this much later.
const longestDoubtSeconds = 60;

/** Locks unmatched statuses older than `afterSeconds` whose message is still unknown. */
export async function claimExpiredStatuses(
  connection: Connection,
  { afterSeconds, limit }: { readonly afterSeconds: number; readonly limit: number },
): Promise<readonly UnmatchedStatus[]> {
  return connection.any(sql.type(row(UnmatchedStatus))`
    SELECT ${selection}
    FROM unmatched_status ${itsChannel}
    WHERE unmatched_status.emitted_at IS NULL
      AND unmatched_status.received_at <= now() - make_interval(secs => ${afterSeconds})
      AND (NOT ${isKnown} OR unmatched_status.received_at <= now() - make_interval(secs => ${afterSeconds + longestDoubtSeconds}))
    ORDER BY unmatched_status.received_at
    LIMIT ${limit}
    FOR UPDATE OF unmatched_status SKIP LOCKED`);
}

export async function deleteUnmatchedStatuses(connection: Connection, ids: readonly bigint[]): Promise<void> {
  await connection.query(sql.type(nothing)`
    DELETE FROM unmatched_status WHERE id = ANY(${sql.array(ids, 'int8')})`);
}

/** Marks statuses whose event was emitted or that failed. The rows stay for inspection and against duplicates. */
export async function markUnmatchedStatusesEmitted(connection: Connection, ids: readonly bigint[]) {
  await connection.query(sql.type(nothing)`
    UPDATE unmatched_status SET emitted_at = now() WHERE id = ANY(${sql.array(ids, 'int8')})`);
}
