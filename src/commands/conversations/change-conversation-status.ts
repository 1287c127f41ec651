import type { Dependencies } from '../../dependencies.ts';
import {
  conversationIds,
  type Actor,
  type Conversation,
  type ConversationStatus,
} from '../../domain/conversations/conversation.ts';
import { lockConversation, updateConversation } from '../../records/conversations/conversations.ts';
import { emitEvents } from '../../records/webhooks/events.ts';
import { exitResponderSessions } from '../../records/conversations/responder-sessions.ts';

export interface ChangeConversationStatus {
  readonly conversationId: string;
  readonly status: ConversationStatus;
  readonly changedBy: Actor | null;
}

/**
 * Changes the status; sessions of chatbots and assistants end in the same transaction (Spec 6.2). Setting the present status
 * changes nothing and emits no event. Throws NotFound, and Conflict when a closed conversation is opened while another one
 * of the contact is open.
 */
export async function changeConversationStatus(
  { database, now }: Pick<Dependencies, 'database' | 'now'>,
  workspaceId: number,
  { conversationId, status, changedBy }: ChangeConversationStatus,
): Promise<Conversation> {
  return database.transaction(async (connection) => {
    const present = await lockConversation(connection, workspaceId, conversationId);
    if (present.status === status) return present;
    const occurredAt = now();
    const closedAt = status === 'closed' ? occurredAt : null;
    const exited = await exitResponderSessions(connection, conversationId);
    const chatMode = exited > 0 ? 'manual' : present.chatMode;
    const conversation = await updateConversation(connection, { ...present, status, closedAt, chatMode });
    await emitEvents(connection, workspaceId, [
      {
        eventKey: 'conversation.status_changed',
        occurredAt,
        data: {
          ...conversationIds(present),
          previousStatus: present.status,
          newStatus: status,
          closedAt: closedAt?.toISOString() ?? null,
          changedBy,
        },
      },
    ]);
    return conversation;
  });
}
