/**
 * Statements that apply provider statuses to campaign recipients and to single messages. Each takes a batch;
 * docs/architecture.md gives the lock order.
 */
import * as t from 'io-ts';
import { type FragmentSqlToken, sql } from 'slonik';
import { oneOf } from '../../codecs/struct.ts';
import { recipientStates, statusBits } from '../../domain/campaigns/recipient.ts';
import { settlements } from '../../domain/wallet/settlement.ts';
import { isErased } from '../contacts/contacts.ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';

/** A message that a status may belong to, read without a lock. */
const StatusTarget = t.type({
  id: t.string,
  kind: oneOf(['recipient', 'message']),
  provider_message_id: nullable(t.string),
  workspace_id: t.number,
  channel_id: t.string,
  campaign_id: nullable(t.string),
  template_id: nullable(t.string),
  contact_id: nullable(t.string),
  source: t.string,
  country: t.string,
  statuses_seen: t.number,
  /** The person is erased: ids of the provider, which contain the number, are not stored any more. */
  erased: t.boolean,
});
export type StatusTarget = t.TypeOf<typeof StatusTarget>;

const recipientTarget = sql.fragment`
  recipient.id, 'recipient' AS kind, recipient.provider_message_id, campaign.workspace_id, campaign.channel_id,
  campaign.id AS campaign_id, campaign.template_id, recipient.contact_id, 'campaign' AS source, recipient.country,
  recipient.statuses_seen, ${isErased({
    phoneNumber: sql.fragment`recipient.phone_number`,
    workspaceId: sql.fragment`campaign.workspace_id`,
    contactId: sql.fragment`recipient.contact_id`,
  })} AS erased`;

const messageTarget = sql.fragment`
  message.id, 'message' AS kind, message.provider_message_id, message.workspace_id, message.channel_id,
  message.campaign_id, message.template_id, message.contact_id, message.source, message.country,
  message.statuses_seen, ${isErased({
    phoneNumber: sql.fragment`message.phone_number`,
    workspaceId: sql.fragment`message.workspace_id`,
    contactId: sql.fragment`message.contact_id`,
  })} AS erased`;

/** Finds messages by our own ids, which travel with the message and return in its statuses. */
export async function findTargetsById(
  connection: Connection,
  ids: readonly string[],
): Promise<readonly StatusTarget[]> {
  if (ids.length === 0) return [];
  return connection.any(sql.type(row(StatusTarget))`
    SELECT ${recipientTarget} FROM recipient
    -- OFFSET 0 keeps the lookup by key: as a join it would read every campaign.
    CROSS JOIN LATERAL (SELECT * FROM campaign WHERE campaign.id = recipient.campaign_id OFFSET 0) AS campaign
    WHERE recipient.id = ANY(${sql.array(ids, 'uuid')})
    UNION ALL
    SELECT ${messageTarget} FROM message
    WHERE message.id = ANY(${sql.array(ids, 'uuid')}) AND message.direction = 'outbound'`);
}

/**
 * Finds messages by the provider's ids, for statuses without ours. Looks in recent days first, then for the rest in all days.
 */
export async function findTargetsByProviderId(
  connection: Connection,
  providerMessageIds: readonly string[],
): Promise<readonly StatusTarget[]> {
  const recent = await findTargetsOfDays(
    connection,
    providerMessageIds,
    sql.fragment`day >= current_date - 1`,
  );
  const found = new Set(recent.map(({ provider_message_id: id }) => id));
  const rest = providerMessageIds.filter((id) => !found.has(id));
  return [...recent, ...(await findTargetsOfDays(connection, rest, sql.fragment`TRUE`))];
}

async function findTargetsOfDays(
  connection: Connection,
  providerMessageIds: readonly string[],
  ofDays: FragmentSqlToken,
): Promise<readonly StatusTarget[]> {
  if (providerMessageIds.length === 0) return [];
  const wanted = sql.array(providerMessageIds, 'text');
  const targets = await connection.any(sql.type(row(StatusTarget))`
    SELECT ${recipientTarget} FROM recipient JOIN campaign ON campaign.id = recipient.campaign_id
    WHERE recipient.id IN (
      -- An array probes the index per day; a join would read all rows.
      SELECT recipient_id FROM provider_message
      WHERE ${ofDays} AND hash = ANY (ARRAY(SELECT hashtextextended(id, 0) FROM unnest(${wanted}) AS id)))
    UNION ALL
    SELECT ${messageTarget} FROM message
    WHERE message.provider_message_id = ANY (${wanted}) AND message.direction = 'outbound'`);
  // Two ids may share a hash. The process compares them, since Postgres would compare each id with all others.
  const ids = new Set(providerMessageIds);
  return targets.filter(({ provider_message_id: id }) => id !== null && ids.has(id));
}

const LockedMessage = t.type({
  id: t.string,
  /** Null for a message outside campaigns. */
  position: nullable(t.number),
  state: oneOf(recipientStates),
  reason: nullable(t.string),
  reason_detail: nullable(t.string),
  price: t.bigint,
  settlement: oneOf(settlements),
  provider_message_id: nullable(t.string),
  statuses_seen: t.number,
  /** It was not delivered before; null while its acceptance is not recorded. */
  not_before: nullable(timestamp),
  /** When a status said that it was delivered or read; null before, and for messages outside campaigns. */
  arrived_at: nullable(timestamp),
});
export type LockedMessage = t.TypeOf<typeof LockedMessage>;

const lockedRecipient = sql.fragment`
  id, position, state, reason, reason_detail, price, settlement, provider_message_id, statuses_seen,
  accepted_at AS not_before, coalesce(delivered_at, read_at) AS arrived_at`;

/**
 * Locks the recipients that are not PENDING. A claim locks wallet and counter first and PENDING recipients last, so locking
 * these here, before wallet and counter, could deadlock; `lockWaitingRecipients` locks them in the order of a claim.
 */
export async function lockRecipients(
  connection: Connection,
  ids: readonly string[],
): Promise<readonly LockedMessage[]> {
  if (ids.length === 0) return [];
  return connection.any(sql.type(row(LockedMessage))`
    SELECT ${lockedRecipient} FROM recipient
    WHERE id = ANY(${sql.array(ids, 'uuid')}) AND state <> 'PENDING'
    ORDER BY campaign_id, position FOR NO KEY UPDATE`);
}

/** Locks PENDING recipients in the order of a claim: the caller holds the wallets, then come counters and recipients. Skips locked rows. */
export async function lockWaitingRecipients(
  connection: Connection,
  { ids, campaignIds }: { readonly ids: readonly string[]; readonly campaignIds: readonly string[] },
): Promise<readonly LockedMessage[]> {
  await connection.query(sql.type(nothing)`
    SELECT FROM campaign_counter WHERE campaign_id = ANY(${sql.array(campaignIds, 'uuid')})
    ORDER BY campaign_id FOR NO KEY UPDATE`);
  return connection.any(sql.type(row(LockedMessage))`
    SELECT ${lockedRecipient} FROM recipient
    WHERE id = ANY(${sql.array(ids, 'uuid')}) AND state = 'PENDING'
    ORDER BY campaign_id, position FOR NO KEY UPDATE SKIP LOCKED`);
}

export async function lockMessages(
  connection: Connection,
  ids: readonly string[],
): Promise<readonly LockedMessage[]> {
  if (ids.length === 0) return [];
  return connection.any(sql.type(row(LockedMessage))`
    SELECT id, NULL::int AS position, state, reason, reason_detail, price, settlement, provider_message_id, statuses_seen,
      created_at AS not_before, NULL::timestamptz AS arrived_at
    FROM message WHERE id = ANY(${sql.array(ids, 'uuid')})
    ORDER BY id FOR NO KEY UPDATE`);
}

/** A locked message and its new values. */
export interface MessageChange {
  readonly target: StatusTarget;
  readonly after: LockedMessage;
}

const changeRow = ({ target, after }: MessageChange) => [
  after.id,
  target.campaign_id,
  after.position,
  after.state,
  after.reason,
  after.reason_detail,
  after.price,
  after.settlement,
  after.provider_message_id,
  after.statuses_seen,
];
const changeTypes = ['uuid', 'uuid', 'int4', 'text', 'text', 'text', 'int8', 'text', 'text', 'int2'];

const changed = sql.fragment`
  state = change.state, reason = change.reason, reason_detail = change.reason_detail, price = change.price,
  settlement = change.settlement, provider_message_id = change.provider_message_id,
  statuses_seen = change.statuses_seen, updated_at = now()`;

const changeColumns = sql.fragment`
  (id, campaign_id, position, state, reason, reason_detail, price, settlement, provider_message_id, statuses_seen)`;

/** Keeps the time of the first such status. */
const firstReportedAt = (status: 'sent' | 'delivered' | 'read') => {
  const time = sql.identifier(['recipient', `${status}_at`]);
  return sql.fragment`CASE WHEN change.statuses_seen & ${statusBits[status]} <> 0 THEN coalesce(${time}, now())
    ELSE ${time} END`;
};

export async function updateRecipients(
  connection: Connection,
  changes: readonly MessageChange[],
): Promise<void> {
  if (changes.length === 0) return;
  await connection.query(sql.type(nothing)`
    UPDATE recipient SET ${changed},
      sent_at = ${firstReportedAt('sent')}, delivered_at = ${firstReportedAt('delivered')}, read_at = ${firstReportedAt('read')}
    FROM ${sql.unnest(changes.map(changeRow), changeTypes)} AS change ${changeColumns}
    WHERE recipient.campaign_id = change.campaign_id AND recipient.position = change.position`);
}

export async function updateMessages(
  connection: Connection,
  changes: readonly MessageChange[],
): Promise<void> {
  if (changes.length === 0) return;
  await connection.query(sql.type(nothing)`
    UPDATE message SET ${changed}
    FROM ${sql.unnest(changes.map(changeRow), changeTypes)} AS change ${changeColumns}
    WHERE message.id = change.id`);
}

/** Indexes recipients by a provider id that a status brought before the response to our request did. */
export async function indexProviderMessages(
  connection: Connection,
  found: readonly { readonly recipientId: string; readonly providerMessageId: string }[],
): Promise<void> {
  if (found.length === 0) return;
  const rows = found.map(({ recipientId, providerMessageId }) => [providerMessageId, recipientId]);
  await connection.query(sql.type(nothing)`
    INSERT INTO provider_message (hash, recipient_id)
    SELECT hashtextextended(found.id, 0), found.recipient_id
    FROM ${sql.unnest(rows, ['text', 'uuid'])} AS found (id, recipient_id)`);
}

/** Removes recipients from the retry queue whose message was sent after all. */
export async function deleteRetries(
  connection: Connection,
  recipients: readonly { readonly campaignId: string; readonly position: number }[],
): Promise<void> {
  if (recipients.length === 0) return;
  const rows = recipients.map(({ campaignId, position }) => [campaignId, position]);
  await connection.query(sql.type(nothing)`
    DELETE FROM recipient_retry USING ${sql.unnest(rows, ['uuid', 'int4'])} AS sent (campaign_id, position)
    WHERE recipient_retry.campaign_id = sent.campaign_id AND recipient_retry.position = sent.position`);
}

/*
 * Statuses whose provider message id is not known yet. They wait for our record of the message. If it does not come in time, the
 * message counts as another application's.
 */

interface NewUnmatchedStatus {
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

interface KnownStatuses {
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
