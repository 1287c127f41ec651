/** Messages from the provider's callbacks: inbound ones and those written in its own app. Each is saved once. */
import * as t from 'io-ts';
import { sql } from 'slonik';
import { oneOf } from '../../codecs/struct.ts';
import type { ConversationLabel } from '../../domain/conversations/conversation.ts';
import { exitResponderSessions } from '../conversations/conversations.ts';
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

/** Returns the message's id, or undefined if the message was saved before. */
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
 * Saves an outbound message that was written in the provider's app, with the current contact and conversation. Such messages
 * are free of charge. Does nothing if the message was saved before; the caller must have called `lockProviderMessage`.
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

// The conversation of an inbound message and the responder's sessions in it.

const CurrentConversation = t.type({
  id: t.string,
  status: oneOf(['open', 'resolved']),
  assignment_type: oneOf(['user', 'team', 'bot', 'none']),
});
export type CurrentConversation = t.TypeOf<typeof CurrentConversation>;

interface ConversationParties {
  readonly workspaceId: number;
  readonly channelId: string;
  readonly contactId: string;
}

/** Locks the open conversation, or begins one. */
export async function lockOrBeginConversation(
  connection: Connection,
  { workspaceId, channelId, contactId }: ConversationParties,
): Promise<CurrentConversation> {
  await connection.query(sql.type(nothing)`
    INSERT INTO conversation (workspace_id, channel_id, contact_id)
    VALUES (${workspaceId}, ${channelId}, ${contactId})
    ON CONFLICT (channel_id, contact_id) WHERE status <> 'closed' DO NOTHING`);
  return connection.one(currentConversation(channelId, contactId));
}

/** Locks the open conversation, if there is one. */
export async function lockConversation(
  connection: Connection,
  { channelId, contactId }: ConversationParties,
): Promise<CurrentConversation | undefined> {
  return (await connection.maybeOne(currentConversation(channelId, contactId))) ?? undefined;
}

const currentConversation = (channelId: string, contactId: string) => sql.type(row(CurrentConversation))`
  SELECT id, status, assignment_type FROM conversation
  WHERE channel_id = ${channelId} AND contact_id = ${contactId} AND status <> 'closed'
  FOR NO KEY UPDATE`;

/**
 * Updates the conversation for a new message: reopens a resolved one and ends its responder sessions. `writtenAt`: when the person
 * wrote, in whole seconds, which opens the service window; null for a message that opens none.
 */
export async function continueConversation(
  connection: Connection,
  conversation: CurrentConversation,
  { writtenAt }: { readonly writtenAt: Date | null },
): Promise<void> {
  const at = sql.fragment`${writtenAt?.toISOString() ?? null}::timestamptz`;
  await connection.query(sql.type(nothing)`
    UPDATE conversation SET status = 'open', last_message_at = now(), updated_at = now(),
      -- The end of that second, because the provider cuts fractions off.
      inbound_at = CASE WHEN ${at} IS NULL THEN inbound_at ELSE greatest(inbound_at, least(now(), ${at} + interval '1 second')) END
    WHERE id = ${conversation.id}`);
  if (conversation.status === 'open') return;
  await exitResponderSessions(connection, conversation.id);
}

/** What a person of the business should look at. */
export async function labelConversation(
  connection: Connection,
  conversationId: string,
  label: ConversationLabel,
): Promise<boolean> {
  const { rowCount } = await connection.query(sql.type(nothing)`
    UPDATE conversation SET labels = array_append(labels, ${label}), updated_at = now()
    WHERE id = ${conversationId} AND NOT (${label} = ANY(labels))`);
  return rowCount > 0;
}

const RecentText = row(t.type({ text: t.string }));

/**
 * What the latest messages to the contact say that it may have answered: those of the last week, at most ten. Of a campaign's or a
 * template's message, the template's components.
 */
export function listRecentTexts(
  connection: Connection,
  person: { readonly workspaceId: number; readonly contactId: string; readonly channelId: string },
): Promise<readonly string[]> {
  return connection.anyFirst(sql.type(RecentText)`
    SELECT COALESCE(template.components::text, sent.content) AS text
    FROM (${recentlySent(person)}) AS sent
    LEFT JOIN template ON template.id = sent.template_id
    WHERE COALESCE(template.components::text, sent.content) IS NOT NULL`);
}

/** Campaigns of the week are looked up by number, each with the index of its recipients. */
const recentlySent = ({
  workspaceId,
  contactId,
  channelId,
}: Parameters<typeof listRecentTexts>[1]) => sql.fragment`
  SELECT template_id, content FROM (
    (SELECT template_id, content, created_at AS at FROM message
      WHERE contact_id = ${contactId} AND direction = 'outbound' AND channel_id = ${channelId}
        AND created_at > now() - interval '7 days'
      ORDER BY created_at DESC LIMIT 10)
    UNION ALL
    SELECT campaign.template_id, NULL, recipient.accepted_at
    FROM campaign CROSS JOIN unnest((SELECT number_forms(phone_number) FROM contact
      WHERE contact.workspace_id = ${workspaceId} AND contact.id = ${contactId})) AS form (number)
    CROSS JOIN LATERAL (
      SELECT accepted_at FROM recipient WHERE recipient.campaign_id = campaign.id AND sendable
        AND recipient.phone_number = form.number OFFSET 0
    ) AS recipient
    WHERE campaign.workspace_id = ${workspaceId} AND campaign.channel_id = ${channelId}
      AND recipient.accepted_at > now() - interval '7 days'
  ) AS sent ORDER BY at DESC LIMIT 10`;

const chatModes = { chatbot: 'bot', assistant: 'assistant' } as const;

/** Starts the responder's session unless one is active. */
export async function startResponderSession(
  connection: Connection,
  {
    workspaceId,
    conversationId,
    responder,
  }: {
    readonly workspaceId: number;
    readonly conversationId: string;
    readonly responder: 'chatbot' | 'assistant';
  },
): Promise<void> {
  await connection.query(sql.type(nothing)`
    INSERT INTO responder_session (workspace_id, conversation_id, kind)
    VALUES (${workspaceId}, ${conversationId}, ${responder})
    ON CONFLICT (conversation_id, kind) WHERE status = 'active' DO NOTHING`);
  await connection.query(sql.type(nothing)`
    UPDATE conversation SET chat_mode = ${chatModes[responder]}
    WHERE id = ${conversationId} AND chat_mode <> ${chatModes[responder]}`);
}
