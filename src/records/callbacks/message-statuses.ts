/**
 * Statements that apply provider statuses to campaign recipients and to single messages. Each takes a batch;
 * docs/architecture.md gives the lock order.
 */
import { sql, type FragmentSqlToken } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import { recipientStates, statusBits } from '../../domain/campaigns/recipient.ts';
import { settlements } from '../../domain/wallet/settlement.ts';
import { isErased } from '../contacts/is-erased.ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row } from '../database/row.ts';

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
});
export type LockedMessage = t.TypeOf<typeof LockedMessage>;

const lockedRecipient = sql.fragment`
  id, position, state, reason, reason_detail, price, settlement, provider_message_id, statuses_seen`;

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
    SELECT id, NULL::int AS position, state, reason, reason_detail, price, settlement, provider_message_id, statuses_seen
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
