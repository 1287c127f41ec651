/** Conversations with contacts: their values (Spec 3.2, 6.3) and how an assignment changes them. Imports neither io-ts nor Node. */

export const conversationStatuses = ['open', 'resolved', 'closed'] as const;
export type ConversationStatus = (typeof conversationStatuses)[number];

export const assignmentTypes = ['user', 'team', 'bot', 'none'] as const;
export type AssignmentType = (typeof assignmentTypes)[number];

export const chatModes = ['manual', 'bot', 'assistant'] as const;
export type ChatMode = (typeof chatModes)[number];

export const assignmentSources = ['manual', 'chatbot', 'assistant', 'api', 'auto'] as const;
export type AssignmentSource = (typeof assignmentSources)[number];

/** `asks_to_stop`: the contact wrote a sentence that may be an opt-out. */
export const conversationLabels = ['asks_to_stop'] as const;
export type ConversationLabel = (typeof conversationLabels)[number];

/** The assignee of a conversation; fields that the request left out are null. */
export interface Assignee {
  readonly id: string | null;
  readonly name: string | null;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly email: string | null;
}

/** The person who assigned or changed a conversation. */
export type Actor = Pick<Assignee, 'id' | 'name' | 'email'>;

export interface Conversation {
  readonly id: string;
  readonly contactId: string;
  readonly channelId: string;
  readonly phoneNumberId: string;
  readonly status: ConversationStatus;
  readonly assignmentType: AssignmentType;
  readonly assignedTo: Assignee | null;
  readonly chatMode: ChatMode;
  readonly labels: readonly ConversationLabel[];
  readonly contactName: string;
  /** Digits with country code. */
  readonly contactPhoneNumber: string | null;
  readonly lastMessageAt: Date | null;
  readonly lastInboundAt: Date | null;
  readonly closedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface Assignment {
  readonly assignmentType: AssignmentType;
  readonly assignedTo: Assignee | null;
  /** Default: `manual` for users and teams, `bot` for bots, unchanged for `none`. */
  readonly chatMode?: ChatMode;
}

export function assign(
  conversation: Conversation,
  { assignmentType, assignedTo, chatMode }: Assignment,
): Conversation {
  return {
    ...conversation,
    assignmentType,
    assignedTo: assignmentType === 'none' ? null : assignedTo,
    chatMode: chatMode ?? modeFor(assignmentType, conversation.chatMode),
  };
}

function modeFor(assignmentType: AssignmentType, present: ChatMode): ChatMode {
  if (assignmentType === 'none') return present;
  if (assignmentType !== 'bot') return 'manual';
  return present === 'assistant' ? 'assistant' : 'bot';
}

export function isSameAssignment(one: Conversation, other: Conversation): boolean {
  const comparable = ({ assignmentType, assignedTo, chatMode }: Conversation) =>
    JSON.stringify([
      assignmentType,
      chatMode,
      assignedTo && [
        assignedTo.id,
        assignedTo.name,
        assignedTo.firstName,
        assignedTo.lastName,
        assignedTo.email,
      ],
    ]);
  return comparable(one) === comparable(other);
}

/** Returns the ids with which the data of every conversation event begins. */
export const conversationIds = ({ id, channelId, phoneNumberId, contactId }: Conversation) => ({
  conversationId: id,
  channelId,
  phoneNumberId,
  contactId,
});

// Extracts the readable text of a message that a contact or an agent wrote.

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** The path of the text in the provider's message, by its type. */
const paths: readonly (readonly string[])[] = [
  ['text', 'body'],
  ['button', 'text'],
  ['interactive', 'button_reply', 'title'],
  ['interactive', 'list_reply', 'title'],
  ['image', 'caption'],
  ['video', 'caption'],
  ['document', 'caption'],
  ['document', 'filename'],
  ['reaction', 'emoji'],
  ['location', 'name'],
];

/** `content` is the provider's message as JSON; null for a message without a text, such as an image without a caption. */
export function messageText(content: string | null): string | null {
  if (content === null) return null;
  const message: unknown = JSON.parse(content);
  const texts = paths.map((path) =>
    path.reduce((value: unknown, key) => (isObject(value) ? value[key] : undefined), message),
  );
  return texts.find((text): text is string => typeof text === 'string' && text !== '') ?? null;
}
