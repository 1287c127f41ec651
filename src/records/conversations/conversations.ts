/**
 * Conversations for agents: lists, reads and changes. Inbound messages find theirs in `callbacks/inbound-messages.ts`.
 */
import * as t from 'io-ts';
import { sql } from 'slonik';
import { AssigneeRecord } from '../../codecs/event.ts';
import { oneOf } from '../../codecs/struct.ts';
import {
  assignmentTypes,
  chatModes,
  type Conversation,
  type ConversationStatus,
  conversationLabels,
  conversationStatuses,
} from '../../domain/conversations/conversation.ts';
import { notFound } from '../../domain/error.ts';
import type { Connection } from '../database/database.ts';
import { asConflict } from '../database/failure.ts';
import { listPage, type Page, type PageRequest } from '../database/page.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';

const ConversationFields = t.type({
  id: t.string,
  contactId: t.string,
  channelId: t.string,
  phoneNumberId: t.string,
  status: oneOf(conversationStatuses),
  assignmentType: oneOf(assignmentTypes),
  assignedTo: nullable(AssigneeRecord),
  chatMode: oneOf(chatModes),
  labels: t.array(oneOf(conversationLabels)),
  contactName: t.string,
  contactPhoneNumber: nullable(t.string),
  lastMessageAt: nullable(timestamp),
  lastInboundAt: nullable(timestamp),
  closedAt: nullable(timestamp),
  createdAt: timestamp,
  updatedAt: timestamp,
});

const contactField = (field: ReturnType<typeof sql.fragment>) => sql.fragment`
  (SELECT ${field} FROM contact
    WHERE contact.workspace_id = conversation.workspace_id AND contact.id = conversation.contact_id)`;

const selection = sql.fragment`
  conversation.id, conversation.contact_id AS "contactId", conversation.channel_id AS "channelId",
  (SELECT phone_number_id FROM channel WHERE channel.id = conversation.channel_id) AS "phoneNumberId",
  conversation.status, conversation.assignment_type AS "assignmentType", conversation.assigned_to AS "assignedTo",
  conversation.chat_mode AS "chatMode", conversation.labels, ${contactField(sql.fragment`
    COALESCE(NULLIF(trim(concat_ws(' ', first_name, last_name)), ''), chat_name)`)} AS "contactName",
  ${contactField(sql.fragment`phone_number`)} AS "contactPhoneNumber",
  conversation.last_message_at AS "lastMessageAt", conversation.inbound_at AS "lastInboundAt",
  conversation.closed_at AS "closedAt", conversation.created_at AS "createdAt",
  conversation.updated_at AS "updatedAt"`;

/** Undefined fields do not restrict the list. */
export interface ConversationFilter {
  readonly status?: ConversationStatus | undefined;
  /** The assignee's id. */
  readonly assignedTo?: string | undefined;
  readonly contactId?: string | undefined;
  /** Conversations with one of these contacts. */
  readonly contactIds?: readonly string[] | undefined;
  /** Only conversations whose contact wrote after this campaign of the workspace was sent to them. */
  readonly campaignId?: string | undefined;
  /** Sorts by the last message instead of the creation. */
  readonly isByLastMessage?: boolean;
}

/** Newest first. */
export function listConversations(
  connection: Connection,
  workspaceId: number,
  {
    status,
    assignedTo,
    contactId,
    contactIds,
    campaignId,
    isByLastMessage,
    ...page
  }: ConversationFilter & PageRequest,
): Promise<Page<Conversation>> {
  const conditions = [
    sql.fragment`workspace_id = ${workspaceId}`,
    ...(status === undefined ? [] : [sql.fragment`status = ${status}`]),
    ...(assignedTo === undefined ? [] : [sql.fragment`assigned_to ->> 'id' = ${assignedTo}`]),
    ...(contactId === undefined ? [] : [sql.fragment`contact_id = ${contactId}`]),
    ...(contactIds === undefined
      ? []
      : [sql.fragment`contact_id = ANY (${sql.array([...contactIds], 'uuid')})`]),
    ...(campaignId === undefined ? [] : [repliesTo(workspaceId, campaignId)]),
  ];
  return listPage(connection, {
    ...page,
    narrowedBy: 'status, assignedTo, contactId or search',
    codec: ConversationFields,
    columns: selection,
    table: sql.fragment`conversation`,
    conditions,
    order:
      isByLastMessage === true
        ? sql.fragment`last_message_at DESC NULLS LAST, id DESC`
        : sql.fragment`created_at DESC, id DESC`,
  });
}

/** Looks up each conversation with a message since the campaign began among the campaign's recipients, by every form of the number. */
const repliesTo = (workspaceId: number, campaignId: string) => sql.fragment`
  inbound_at >= (SELECT started_at FROM campaign WHERE workspace_id = ${workspaceId} AND id = ${campaignId})
  AND EXISTS (
    SELECT FROM contact CROSS JOIN LATERAL unnest(number_forms(contact.phone_number)) AS form (number)
    JOIN recipient ON recipient.campaign_id = ${campaignId} AND recipient.phone_number = form.number AND recipient.sendable
    WHERE contact.workspace_id = conversation.workspace_id AND contact.id = conversation.contact_id
      AND recipient.accepted_at <= conversation.inbound_at)`;

/** Throws NotFound, also for a conversation of another workspace. */
export async function getConversation(
  connection: Connection,
  workspaceId: number,
  conversationId: string,
): Promise<Conversation> {
  const found = await connection.maybeOne(sql.type(row(ConversationFields))`
    SELECT ${selection} FROM conversation WHERE workspace_id = ${workspaceId} AND id = ${conversationId}`);
  return found ?? notFound('Conversation');
}

/** Like `getConversation`, and locks the conversation until the transaction ends. */
export async function lockConversation(
  connection: Connection,
  workspaceId: number,
  conversationId: string,
): Promise<Conversation> {
  const found = await connection.maybeOne(sql.type(row(ConversationFields))`
    SELECT ${selection} FROM conversation WHERE workspace_id = ${workspaceId} AND id = ${conversationId}
    FOR NO KEY UPDATE`);
  return found ?? notFound('Conversation');
}

/** Writes assignment, mode and status. Throws Conflict when a contact would have two conversations that are not closed. */
export async function updateConversation(
  connection: Connection,
  conversation: Conversation,
): Promise<Conversation> {
  const { id, assignedTo, closedAt } = conversation;
  return connection
    .one(sql.type(row(ConversationFields))`
    UPDATE conversation SET assignment_type = ${conversation.assignmentType},
      assigned_to = ${assignedTo === null ? null : sql.jsonb({ ...assignedTo })},
      chat_mode = ${conversation.chatMode}, status = ${conversation.status},
      closed_at = ${closedAt?.toISOString() ?? null}::timestamptz, updated_at = now(),
      labels = CASE WHEN ${conversation.status} = 'open' THEN labels ELSE '{}' END
    WHERE id = ${id}
    RETURNING ${selection}`)
    .catch(asConflict('The contact has another open conversation on this channel: close that one'));
}

/** Ends the active sessions of a chatbot or an assistant; the conversation is manual from then on. Returns how many ended. */
export async function exitResponderSessions(connection: Connection, conversationId: string): Promise<number> {
  const { rowCount } = await connection.query(sql.type(nothing)`
    UPDATE responder_session SET status = 'exited', exited_at = now()
    WHERE conversation_id = ${conversationId} AND status = 'active'`);
  if (rowCount > 0)
    await connection.query(sql.type(nothing)`
      UPDATE conversation SET chat_mode = 'manual' WHERE id = ${conversationId}`);
  return rowCount;
}
