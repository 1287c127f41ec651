/** Conversations as agents see and change them; inbound messages find theirs in `callbacks/conversations.ts`. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { AssigneeRecord } from '../../codecs/event.ts';
import { oneOf } from '../../codecs/struct.ts';
import {
  assignmentTypes,
  chatModes,
  conversationStatuses,
  type Conversation,
  type ConversationStatus,
} from '../../domain/conversations/conversation.ts';
import { notFound } from '../../domain/error.ts';
import type { Connection } from '../database/database.ts';
import { asConflict } from '../database/failure.ts';
import { listPage, type Page, type Place } from '../database/page.ts';
import { nullable, row, timestamp } from '../database/row.ts';

const ConversationFields = t.type({
  id: t.string,
  contactId: t.string,
  channelId: t.string,
  phoneNumberId: t.string,
  status: oneOf(conversationStatuses),
  assignmentType: oneOf(assignmentTypes),
  assignedTo: nullable(AssigneeRecord),
  chatMode: oneOf(chatModes),
  closedAt: nullable(timestamp),
  createdAt: timestamp,
  updatedAt: timestamp,
});

const selection = sql.fragment`
  conversation.id, conversation.contact_id AS "contactId", conversation.channel_id AS "channelId",
  (SELECT phone_number_id FROM channel WHERE channel.id = conversation.channel_id) AS "phoneNumberId",
  conversation.status, conversation.assignment_type AS "assignmentType", conversation.assigned_to AS "assignedTo",
  conversation.chat_mode AS "chatMode", conversation.closed_at AS "closedAt", conversation.created_at AS "createdAt",
  conversation.updated_at AS "updatedAt"`;

/** All conversations where everything is undefined. */
export interface ConversationFilter {
  readonly status?: ConversationStatus | undefined;
  /** The assignee's id. */
  readonly assignedTo?: string | undefined;
  readonly contactId?: string | undefined;
}

/** Newest first. */
export function listConversations(
  connection: Connection,
  workspaceId: number,
  { status, assignedTo, contactId, ...place }: ConversationFilter & Place,
): Promise<Page<Conversation>> {
  const conditions = [
    sql.fragment`workspace_id = ${workspaceId}`,
    ...(status === undefined ? [] : [sql.fragment`status = ${status}`]),
    ...(assignedTo === undefined ? [] : [sql.fragment`assigned_to ->> 'id' = ${assignedTo}`]),
    ...(contactId === undefined ? [] : [sql.fragment`contact_id = ${contactId}`]),
  ];
  return listPage(connection, {
    ...place,
    narrowedBy: 'status, assignedTo or contactId',
    codec: ConversationFields,
    columns: selection,
    table: sql.fragment`conversation`,
    conditions,
    order: sql.fragment`created_at DESC, id DESC`,
  });
}

/** Throws NotFound, for a conversation of another workspace too. */
export async function getConversation(
  connection: Connection,
  workspaceId: number,
  conversationId: string,
): Promise<Conversation> {
  const found = await connection.maybeOne(sql.type(row(ConversationFields))`
    SELECT ${selection} FROM conversation WHERE workspace_id = ${workspaceId} AND id = ${conversationId}`);
  return found ?? notFound('Conversation');
}

/** As `getConversation`, and nobody else changes the conversation until the transaction ends. */
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
      closed_at = ${closedAt?.toISOString() ?? null}::timestamptz, updated_at = now()
    WHERE id = ${id}
    RETURNING ${selection}`)
    .catch(asConflict('The contact has another open conversation on this channel: close that one'));
}
