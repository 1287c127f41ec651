/** Messages to and from one contact: for the contact's page, and as the thread of a conversation. */
import * as t from 'io-ts';
import { describe, named } from '../codecs/json-schema.ts';
import { RecipientReason } from '../codecs/message.ts';
import { cursorOf, idOf, IsoDateTime, limitUpTo, Uuid } from '../codecs/scalars.ts';
import { nullish, oneOf, optional, struct } from '../codecs/struct.ts';
import { messageText } from '../domain/conversations/message-text.ts';
import { getContact } from '../records/contacts/contacts.ts';
import { listHistory, type HistoryEntry, type HistoryQuery } from '../records/contacts/history.ts';
import { getConversation } from '../records/conversations/conversations.ts';
import type { Database } from '../records/database/database.ts';
import { endpoint } from './frame/endpoint.ts';
import { oneCursorPage, presentPage } from './frame/envelope.ts';

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
    const { contactId, channelId } = await getConversation(database, workspaceId, id);
    return answerPart(database, { workspaceId, contactId, channelId }, asked);
  },
);
