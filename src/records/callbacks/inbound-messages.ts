/** Messages from the provider's callbacks: inbound ones and those written in its own app. Each is saved once. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nothing, row } from '../database/row.ts';
import { idsOf } from './sender-contacts.ts';

/** Locks the provider's message id: another transaction that saves the same message waits. */
export async function lockProviderMessage(
  connection: Connection,
  { channelId, providerMessageId }: { readonly channelId: string; readonly providerMessageId: string },
): Promise<void> {
  await connection.query(sql.type(nothing)`
    SELECT pg_advisory_xact_lock(hashtextextended(${`${channelId} ${providerMessageId}`}, 0))`);
}

const InboundKey = row(t.type({ channel_id: t.string, provider_message_id: t.string }));

/** Returns the inbound messages that are saved already, each as `<channel id> <provider message id>`. */
export async function listKnownInboundIds(
  connection: Connection,
  keys: readonly { readonly channelId: string; readonly providerMessageId: string }[],
): Promise<ReadonlySet<string>> {
  const rows = keys.map(({ channelId, providerMessageId }) => [channelId, providerMessageId]);
  const known = await connection.any(sql.type(InboundKey)`
    SELECT message.channel_id, message.provider_message_id
    FROM ${sql.unnest(rows, ['uuid', 'text'])} AS key (channel_id, provider_message_id)
    JOIN message ON message.channel_id = key.channel_id AND message.provider_message_id = key.provider_message_id
    WHERE message.direction = 'inbound'`);
  return new Set(known.map((key) => `${key.channel_id} ${key.provider_message_id}`));
}

export interface NewInboundMessage {
  readonly workspaceId: number;
  readonly channelId: string;
  readonly contactId: string | null;
  readonly conversationId: string | null;
  /** The campaign whose message this one answers. */
  readonly campaignId: string | null;
  readonly phoneNumber: string | null;
  readonly country: string;
  readonly type: string;
  /** The provider's message as JSON text. */
  readonly content: string;
  readonly providerMessageId: string;
  readonly sentAt: Date | null;
}

const MessageId = row(t.type({ id: t.string }));

/** Returns the message's id; undefined when the message is saved already. */
export async function insertInboundMessage(
  connection: Connection,
  message: NewInboundMessage,
): Promise<string | undefined> {
  const inserted = await connection.maybeOneFirst(sql.type(MessageId)`
    INSERT INTO message (workspace_id, channel_id, direction, source, contact_id, conversation_id, campaign_id, phone_number,
      country, type, content, state, provider_message_id, provider_timestamp)
    VALUES (${message.workspaceId}, ${message.channelId}, 'inbound', 'contact', ${message.contactId},
      ${message.conversationId}, ${message.campaignId}, ${message.phoneNumber}, ${message.country}, ${message.type}, ${message.content},
      'RECEIVED', ${message.providerMessageId}, ${message.sentAt?.toISOString() ?? null})
    ON CONFLICT (channel_id, provider_message_id) WHERE direction = 'inbound' DO NOTHING
    RETURNING id`);
  return inserted ?? undefined;
}

export interface NewAppMessage extends Omit<
  NewInboundMessage,
  'contactId' | 'conversationId' | 'campaignId'
> {
  /** The provider's ids of the recipient, who may hide the number. */
  readonly waId: string | null;
  readonly providerUserId: string | null;
}

/**
 * Saves an outbound message that was written in the provider's app, with the present contact and conversation; it costs
 * nothing. Does nothing when it is saved already; the caller holds `lockProviderMessage`.
 */
export async function insertAppMessage(connection: Connection, message: NewAppMessage): Promise<void> {
  await connection.query(sql.type(nothing)`
    WITH person AS (
      SELECT id FROM contact
      WHERE workspace_id = ${message.workspaceId} AND id IN (${idsOf(message.workspaceId, message)}) AND deleted_at IS NULL
      ORDER BY (phone_number IS NOT DISTINCT FROM ${message.phoneNumber}::text) DESC, id LIMIT 1
    ), present AS (
      UPDATE conversation SET last_message_at = now(), updated_at = now()
      WHERE channel_id = ${message.channelId} AND contact_id = (SELECT id FROM person) AND status <> 'closed'
      RETURNING id
    )
    INSERT INTO message (workspace_id, channel_id, direction, source, contact_id, conversation_id, phone_number, country,
      type, content, state, provider_message_id, provider_timestamp)
    SELECT ${message.workspaceId}, ${message.channelId}, 'outbound', 'app', (SELECT id FROM person),
      (SELECT id FROM present), ${message.phoneNumber}, ${message.country}, ${message.type}, ${message.content},
      'ACCEPTED', ${message.providerMessageId}, ${message.sentAt?.toISOString() ?? null}
    WHERE NOT EXISTS (
      SELECT FROM message WHERE provider_message_id = ${message.providerMessageId} AND direction = 'outbound'
        AND channel_id = ${message.channelId})`);
}
