/** The conversation of an inbound message and the responder's sessions in it. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import type { Connection } from '../database/database.ts';
import { exitResponderSessions } from '../conversations/responder-sessions.ts';
import { nothing, row } from '../database/row.ts';

const CurrentConversation = t.type({
  id: t.string,
  status: oneOf(['open', 'resolved']),
  assignment_type: oneOf(['user', 'team', 'bot', 'none']),
});
export type CurrentConversation = t.TypeOf<typeof CurrentConversation>;

export interface ConversationParties {
  readonly workspaceId: number;
  readonly channelId: string;
  readonly contactId: string;
}

/** Locks the conversation that is not closed, or begins one. */
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

/** Locks the conversation that is not closed, if there is one. */
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
