/** Conversations with contacts: who answers them, and whether they are done. */
import * as t from 'io-ts';
import {
  actorOf,
  AssignConversation,
  assigneeOf,
  ChangeConversationStatus,
  Conversation,
} from '../codecs/conversation.ts';
import { describe, named } from '../codecs/json-schema.ts';
import { RecipientReason } from '../codecs/message.ts';
import { cursorOf, idOf, IsoDateTime, limitUpTo, Page, textOf, Uuid } from '../codecs/scalars.ts';
import { nullish, oneOf, optional, struct } from '../codecs/struct.ts';
import * as changing from '../commands/conversations/change-conversation.ts';
import { conversationStatuses, messageText } from '../domain/conversations/conversation.ts';
import { readContactSearch } from '../domain/contacts/search.ts';
import { findContacts } from '../records/contacts/list.ts';
import { getContact } from '../records/contacts/contacts.ts';
import { type HistoryEntry, type HistoryQuery, listHistory } from '../records/contacts/history.ts';
import * as records from '../records/conversations/conversations.ts';
import type { Database } from '../records/database/database.ts';
import { endpoint } from './frame/endpoint.ts';
import {
  answer,
  answerWith,
  oneCursorPage,
  onePage,
  page,
  presentPage,
  succeed,
  succeedWith,
} from './frame/envelope.ts';

const tag = 'Conversations';
const params = struct({ id: idOf('Conversation') });

/** Contacts whose conversations a search lists. */
const mostSearched = 1_000;

const conversationExample = {
  id: '0197c0de-0000-7000-8000-0000000000d1',
  contactId: '0197c0de-0000-7000-8000-0000000000c1',
  channelId: '0197c0de-0000-7000-8000-0000000000b1',
  phoneNumberId: '106540352242922',
  status: 'open',
  assignmentType: 'user',
  assignedTo: {
    id: 'user-17',
    name: 'Ada Lovelace',
    firstName: 'Ada',
    lastName: 'Lovelace',
    email: 'ada@example.com',
  },
  chatMode: 'manual',
  labels: [],
  contactName: 'Grace Hopper',
  contactPhoneNumber: '4930901820',
  lastMessageAt: '2026-11-21T09:04:00.000Z',
  lastInboundAt: '2026-11-21T09:04:00.000Z',
  closedAt: null,
  createdAt: '2026-11-21T09:00:00.000Z',
  updatedAt: '2026-11-21T09:05:00.000Z',
};

export const listConversations = endpoint(
  {
    method: 'GET',
    path: '/api/conversations',
    operationId: 'listConversations',
    summary: 'List the conversations of the workspace',
    description:
      'Newest first, or with `sort=lastMessageAt` by the latest message. `campaignId` keeps conversations whose contact wrote after the campaign reached it.',
    tag,
    access: 'workspace',
    query: optional({
      page: Page,
      limit: limitUpTo(100),
      status: oneOf(conversationStatuses, 'ConversationStatus'),
      assignedTo: textOf({ max: 255 }),
      contactId: Uuid,
      search: describe(textOf({ max: 255 }), {
        description: `Only conversations with contacts that \`GET /api/contacts?search=\` finds, of the first ${mostSearched.toLocaleString('en')} contacts found.`,
      }),
      campaignId: describe(Uuid, {
        description: 'Only conversations whose contact wrote after the campaign with this id reached it.',
      }),
      sort: describe(oneOf(['createdAt', 'lastMessageAt']), {
        description: 'Time to sort by, latest first; default `createdAt`.',
      }),
    }),
    responses: { 200: onePage('One page of conversations', Conversation, conversationExample) },
  },
  async ({ dependencies: { database, searchDatabase }, principal: { workspaceId }, query }) => {
    const requested = { page: query.page ?? 1, limit: query.limit ?? 10 };
    const search = readContactSearch(query.search ?? '');
    const found =
      search.words.length === 0
        ? undefined
        : await findContacts(searchDatabase, workspaceId, { search, limit: mostSearched });
    const wanted = {
      ...query,
      ...requested,
      contactIds: found?.slice(0, mostSearched).map(({ id }) => id),
      isByLastMessage: query.sort === 'lastMessageAt',
    };
    const { items, total } = await records.listConversations(database, workspaceId, wanted);
    return { status: 200, body: page(items, { ...requested, total }) };
  },
);

export const getConversation = endpoint(
  {
    method: 'GET',
    path: '/api/conversations/:id',
    operationId: 'getConversation',
    summary: 'Read a conversation',
    tag,
    access: 'workspace',
    params,
    responses: { 200: answer('The conversation', Conversation, conversationExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id } }) => ({
    status: 200,
    body: succeed(await records.getConversation(database, workspaceId, id)),
  }),
);

export const assignConversation = endpoint(
  {
    method: 'POST',
    path: '/api/conversations/:id/assign',
    operationId: 'assignConversation',
    summary: 'Assign a conversation',
    description: 'Emits `conversation.assigned` if something changed. `none` removes the assignment.',
    tag,
    access: 'workspace',
    params,
    body: AssignConversation,
    bodyExample: {
      assignmentType: 'user',
      assignedTo: conversationExample.assignedTo,
      assignedBy: { id: 'user-3', name: 'Grace Hopper', email: 'grace@example.com' },
      source: 'manual',
    },
    responses: {
      200: answerWith(
        'Conversation after the change',
        'Conversation assigned successfully',
        Conversation,
        conversationExample,
      ),
    },
  },
  async ({ dependencies, principal: { workspaceId }, params: { id }, body }) => {
    const conversation = await changing.assignConversation(dependencies, workspaceId, {
      conversationId: id,
      assignmentType: body.assignmentType,
      assignedTo: assigneeOf(body.assignedTo),
      assignedBy: actorOf(body.assignedBy),
      source: body.source ?? 'api',
      ...(body.chatMode !== undefined && { chatMode: body.chatMode }),
    });
    return { status: 200, body: succeedWith('Conversation assigned successfully', conversation) };
  },
);

export const changeConversationStatus = endpoint(
  {
    method: 'PATCH',
    path: '/api/conversations/:id/status',
    operationId: 'changeConversationStatus',
    summary: 'Open, resolve or close a conversation',
    description:
      'Emits `conversation.status_changed` if something changed, and ends chatbot and assistant sessions. Reopening is refused with 409 while the contact has another open conversation.',
    tag,
    access: 'workspace',
    params,
    body: ChangeConversationStatus,
    bodyExample: {
      status: 'resolved',
      changedBy: { id: 'user-17', name: 'Ada Lovelace', email: 'ada@example.com' },
    },
    responses: {
      200: answerWith(
        'Conversation after the change',
        'Conversation status changed successfully',
        Conversation,
        { ...conversationExample, status: 'resolved' },
      ),
    },
    errors: [409],
  },
  async ({ dependencies, principal: { workspaceId }, params: { id }, body }) => {
    const conversation = await changing.changeConversationStatus(dependencies, workspaceId, {
      conversationId: id,
      status: body.status,
      changedBy: actorOf(body.changedBy),
    });
    return { status: 200, body: succeedWith('Conversation status changed successfully', conversation) };
  },
);

// Messages to and from one contact: for the contact's page, and as the thread of a conversation.

const HistoryTemplate = named('HistoryTemplate', struct({ id: Uuid, name: t.string }));
const HistoryCampaign = named('HistoryCampaign', struct({ id: Uuid, name: t.string }));

const HistoryItem = named(
  'HistoryItem',
  struct({
    id: Uuid,
    at: describe(IsoDateTime, {
      description: 'Time at which the message was accepted, received or refused.',
    }),
    direction: describe(oneOf(['outbound', 'inbound'], 'MessageDirection'), {
      description: 'Direction: `inbound` from the contact, `outbound` to it.',
    }),
    type: describe(t.string, {
      description: 'Provider’s kind of message: `template`, `text`, `image` and so on.',
    }),
    state: describe(t.string, {
      description: 'State of the recipient, or `RECEIVED` for an inbound message.',
    }),
    reason: describe(nullish(RecipientReason), {
      description: 'Reason why an outbound message failed; null otherwise.',
    }),
    text: describe(nullish(t.string), {
      description: 'Text of an inbound message; null if it has none.',
    }),
    template: describe(nullish(HistoryTemplate), {
      description: 'Template of an outbound message; null otherwise.',
    }),
    campaign: describe(nullish(HistoryCampaign), {
      description: 'Campaign of an outbound message; null without one.',
    }),
  }),
);

const example = {
  id: '0197c0de-0000-7000-8000-000000000071',
  at: '2026-11-21T09:00:00.000Z',
  direction: 'outbound',
  type: 'template',
  state: 'READ',
  reason: null,
  text: null,
  template: { id: '0197c0de-0000-7000-8000-0000000000b7', name: 'winter_sale' },
  campaign: { id: '0197c0de-0000-7000-8000-0000000000f1', name: 'Winter sale' },
};

const nameOf = (id: string | null, name: string | null) =>
  id === null || name === null ? null : { id, name };

const present = (entry: HistoryEntry) => ({
  id: entry.id,
  at: entry.at,
  direction: entry.direction,
  type: entry.type,
  state: entry.state,
  reason: entry.reason,
  text: messageText(entry.content),
  template: nameOf(entry.templateId, entry.templateName),
  campaign: nameOf(entry.campaignId, entry.campaignName),
});

const HistoryCursor = cursorOf(struct({ at: IsoDateTime, id: Uuid }));
const query = optional({ cursor: HistoryCursor, limit: limitUpTo(1000) });
const responses = { 200: oneCursorPage('One page of messages', HistoryItem, example) };

async function answerPart(
  database: Database,
  person: Pick<HistoryQuery, 'workspaceId' | 'contactId' | 'channelId'>,
  { cursor, limit = 100 }: t.TypeOf<typeof query>,
) {
  const found = await listHistory(database, { ...person, after: cursor, limit });
  const cursorOfEntry = ({ at, id }: HistoryEntry) => HistoryCursor.encode({ at, id });
  return { status: 200, body: presentPage(found, limit, { cursor: cursorOfEntry, present }) } as const;
}

export const listContactHistory = endpoint(
  {
    method: 'GET',
    path: '/api/contacts/:id/history',
    operationId: 'listContactHistory',
    summary: 'List the messages sent to a contact and received from it',
    description: 'Newest first: messages of campaigns, single sends and inbound messages.',
    tag: 'Contacts',
    access: 'workspace',
    params: struct({ id: idOf('Contact') }),
    query,
    responses,
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id }, query: asked }) => {
    await getContact(database, workspaceId, id);
    return answerPart(database, { workspaceId, contactId: id }, asked);
  },
);

export const listConversationMessages = endpoint(
  {
    method: 'GET',
    path: '/api/conversations/:id/messages',
    operationId: 'listConversationMessages',
    summary: 'List the messages of a conversation',
    description: 'Newest first: messages in both directions, campaigns included.',
    tag: 'Conversations',
    access: 'workspace',
    params: struct({ id: idOf('Conversation') }),
    query,
    responses,
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id }, query: asked }) => {
    const { contactId, channelId } = await records.getConversation(database, workspaceId, id);
    return answerPart(database, { workspaceId, contactId, channelId }, asked);
  },
);
