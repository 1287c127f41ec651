/** Inbound messages, each saved once. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from './database.ts';
import { row } from './row.ts';

const InboundKey = row(t.type({ channel_id: t.string, provider_message_id: t.string }));

/** Which inbound messages are saved already, each as `<channel id> <provider message id>`. */
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
  readonly phoneNumber: string | null;
  readonly country: string;
  readonly type: string;
  /** The provider's message as JSON text. */
  readonly content: string;
  readonly providerMessageId: string;
  readonly sentAt: Date | null;
}

const MessageId = row(t.type({ id: t.string }));

/** False when the message is saved already. */
export async function insertInboundMessage(
  connection: Connection,
  message: NewInboundMessage,
): Promise<boolean> {
  const inserted = await connection.maybeOne(sql.type(MessageId)`
    INSERT INTO message (workspace_id, channel_id, direction, source, contact_id, conversation_id, phone_number, country,
      type, content, state, provider_message_id, provider_timestamp)
    VALUES (${message.workspaceId}, ${message.channelId}, 'inbound', 'contact', ${message.contactId},
      ${message.conversationId}, ${message.phoneNumber}, ${message.country}, ${message.type}, ${message.content},
      'RECEIVED', ${message.providerMessageId}, ${message.sentAt?.toISOString() ?? null})
    ON CONFLICT (channel_id, provider_message_id) WHERE direction = 'inbound' DO NOTHING
    RETURNING id`);
  return inserted !== null;
}
