/** Conversations on the wire. */
import * as t from 'io-ts';
import { AssigneeRecord } from './event.ts';
import { describe, named } from './json-schema.ts';
import {
  assignmentSources,
  assignmentTypes,
  chatModes,
  conversationLabels,
  conversationStatuses,
  type Actor,
  type Assignee,
} from '../domain/conversations/conversation.ts';
import { IsoDateTime, textOf, Uuid } from './scalars.ts';
import { nullish, oneOf, optional, struct } from './struct.ts';

export const Conversation = named(
  'Conversation',
  struct({
    id: Uuid,
    contactId: Uuid,
    channelId: Uuid,
    phoneNumberId: t.string,
    status: oneOf(conversationStatuses, 'ConversationStatus'),
    assignmentType: oneOf(assignmentTypes, 'AssignmentType'),
    assignedTo: nullish(AssigneeRecord),
    chatMode: oneOf(chatModes, 'ChatMode'),
    labels: describe(t.array(oneOf(conversationLabels, 'ConversationLabel')), {
      description:
        '`asks_to_stop`: the contact wrote a sentence that may be an opt-out. Cleared when the conversation is resolved or closed.',
    }),
    contactName: describe(t.string, {
      description: 'First and last name of the contact, else its chat name; may be empty.',
    }),
    contactPhoneNumber: describe(nullish(t.string), {
      description: 'Phone number of the contact: digits with country calling code; null if unknown.',
    }),
    lastMessageAt: describe(nullish(IsoDateTime), {
      description: 'Time of the last message in either direction; null without one.',
    }),
    lastInboundAt: describe(nullish(IsoDateTime), {
      description:
        'Time of the contact’s last message; for 24 hours from then it can be answered without a template. Null if it never wrote.',
    }),
    closedAt: nullish(IsoDateTime),
    createdAt: IsoDateTime,
    updatedAt: IsoDateTime,
  }),
);

const text = nullish(textOf({ max: 255 }));
const AssigneeInput = named(
  'AssigneeInput',
  struct({ id: textOf({ min: 1, max: 255 }) }, { name: text, firstName: text, lastName: text, email: text }),
);
const ActorInput = named('ActorInput', optional({ id: text, name: text, email: text }));

export const AssignConversation = struct(
  { assignmentType: oneOf(assignmentTypes, 'AssignmentType') },
  {
    assignedTo: nullish(AssigneeInput),
    assignedBy: nullish(ActorInput),
    chatMode: oneOf(chatModes, 'ChatMode'),
    source: oneOf(assignmentSources, 'AssignmentSource'),
  },
);

export const ChangeConversationStatus = struct(
  { status: oneOf(conversationStatuses, 'ConversationStatus') },
  { changedBy: nullish(ActorInput) },
);

/** Fields that the caller left out are null. */
export function assigneeOf(input: t.TypeOf<typeof AssigneeInput> | null | undefined): Assignee | null {
  if (input === null || input === undefined) return null;
  const { id, name = null, firstName = null, lastName = null, email = null } = input;
  return { id, name, firstName, lastName, email };
}

export function actorOf(input: t.TypeOf<typeof ActorInput> | null | undefined): Actor | null {
  if (input === null || input === undefined) return null;
  const { id = null, name = null, email = null } = input;
  return { id, name, email };
}
