/** Conversations with contacts: who answers them, and whether they are done. */
import {
  actorOf,
  AssignConversation,
  assigneeOf,
  ChangeConversationStatus,
  Conversation,
} from '../codecs/conversation.ts';
import { describe } from '../codecs/json-schema.ts';
import { idOf, limitUpTo, Page, textOf, Uuid } from '../codecs/scalars.ts';
import { oneOf, optional, struct } from '../codecs/struct.ts';
import * as changing from '../commands/conversations/change-conversation.ts';
import { conversationStatuses } from '../domain/conversations/conversation.ts';
import * as records from '../records/conversations/conversations.ts';
import { endpoint } from './frame/endpoint.ts';
import { answer, answerWith, onePage, page, succeed, succeedWith } from './frame/envelope.ts';

const tag = 'Conversations';
const params = struct({ id: idOf('Conversation') });

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
      campaignId: describe(Uuid, {
        description: 'Only conversations whose contact wrote after the campaign with this id reached it.',
      }),
      sort: describe(oneOf(['createdAt', 'lastMessageAt']), {
        description: 'Time to sort by, latest first; default `createdAt`.',
      }),
    }),
    responses: { 200: onePage('One page of conversations', Conversation, conversationExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, query }) => {
    const requested = { page: query.page ?? 1, limit: query.limit ?? 10 };
    const wanted = { ...query, ...requested, isByLastMessage: query.sort === 'lastMessageAt' };
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
