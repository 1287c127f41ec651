import type { Dependencies } from '../../dependencies.ts';
import {
  assign,
  conversationIds,
  isSameAssignment,
  type Actor,
  type Assignment,
  type AssignmentSource,
  type Conversation,
} from '../../domain/conversations/conversation.ts';
import { Invalid } from '../../domain/error.ts';
import { lockConversation, updateConversation } from '../../records/conversations/conversations.ts';
import { emitEvents } from '../../records/webhooks/events.ts';

export interface AssignConversation extends Assignment {
  readonly conversationId: string;
  readonly assignedBy: Actor | null;
  readonly source: AssignmentSource;
}

/** Assigns a conversation and emits `conversation.assigned` if that changes the assignment (Spec 6.3). Throws NotFound. */
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
