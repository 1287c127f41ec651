/** Assigns conversations and changes their status. */
import type { Dependencies } from '../../dependencies.ts';
import {
  type Actor,
  assign,
  type Assignment,
  type AssignmentSource,
  type Conversation,
  conversationIds,
  type ConversationStatus,
  isSameAssignment,
} from '../../domain/conversations/conversation.ts';
import { Invalid } from '../../domain/error.ts';
import {
  exitResponderSessions,
  lockConversation,
  updateConversation,
} from '../../records/conversations/conversations.ts';
import { emitEvents } from '../../records/webhooks/events.ts';

export interface AssignConversation extends Assignment {
  readonly conversationId: string;
  readonly assignedBy: Actor | null;
  readonly source: AssignmentSource;
}

/** Assigns a conversation, and emits `conversation.assigned` if the assignment changes (Spec 6.3). Throws NotFound. */
export async function assignConversation(
  { database, now }: Pick<Dependencies, 'database' | 'now'>,
  workspaceId: number,
  { conversationId, assignedBy, source, ...assignment }: AssignConversation,
): Promise<Conversation> {
  if (assignment.assignmentType !== 'none' && assignment.assignedTo === null) {
    throw Invalid.at('assignedTo', 'assignedTo is required unless assignmentType is none');
  }
  return database.transaction(async (connection) => {
    const present = await lockConversation(connection, workspaceId, conversationId);
    const assigned = assign(present, assignment);
    if (isSameAssignment(present, assigned)) return present;
    const { assignmentType, assignedTo, chatMode } = assigned;
    const conversation = await updateConversation(connection, assigned);
    await emitEvents(connection, workspaceId, [
      {
        eventKey: 'conversation.assigned',
        occurredAt: now(),
        data: { ...conversationIds(assigned), assignmentType, assignedTo, assignedBy, chatMode, source },
      },
    ]);
    return conversation;
  });
}

export interface ChangeConversationStatus {
  readonly conversationId: string;
  readonly status: ConversationStatus;
  readonly changedBy: Actor | null;
}

/**
 * Changes the status; chatbot and assistant sessions end in the same transaction (Spec 6.2). Setting the current status changes
 * nothing and emits no event. Throws NotFound, or Conflict if a closed conversation is opened while the contact has another
 * open one.
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
