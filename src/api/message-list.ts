/** Reading messages: single sends, test messages and replies. */
import { Message, MessageCursor, MessageState } from '../codecs/message.ts';
import { describe } from '../codecs/json-schema.ts';
import { idOf, IsoDateTime, limitUpTo, repeated, textOf, Uuid } from '../codecs/scalars.ts';
import { optional, struct } from '../codecs/struct.ts';
import { messageText } from '../domain/conversations/message-text.ts';
import { normalisePhoneNumber } from '../domain/phone-number.ts';
import * as records from '../records/messages/messages.ts';
import { endpoint } from './frame/endpoint.ts';
import { answer, oneCursorPage, presentPage, succeed } from './frame/envelope.ts';

const example = {
  id: '0197c1f2-7a6e-7b52-9a40-3f0f6a3c9d11',
  direction: 'inbound',
  source: 'contact',
  state: 'RECEIVED',
  reason: null,
  reasonDetail: null,
  channelId: '0197c0de-0000-7000-8000-0000000000b1',
  phoneNumberId: '106540352242922',
  phoneNumber: '4930901820',
  contactId: '0197c0de-0000-7000-8000-0000000000c1',
  conversationId: '0197c0de-0000-7000-8000-0000000000d1',
  campaignId: null,
  templateId: null,
  type: 'text',
  text: 'Is it still available?',
  providerMessageId: 'wamid.HBgMOTE5ODc2NTQzMjEw',
  createdAt: '2026-11-21T09:00:00.000Z',
  updatedAt: '2026-11-21T09:00:00.000Z',
};

const present = ({ content, ...message }: records.MessageRow) => ({
  ...message,
  source: message.source as 'contact',
  text: messageText(content),
});

const cursor = ({ id }: records.MessageRow) => MessageCursor.encode({ id });
const digitsOf = (text: string): string => normalisePhoneNumber(text)?.digits ?? text.replaceAll(/\D/g, '');

export const listMessagesEndpoint = endpoint(
  {
    method: 'GET',
    path: '/api/messages',
    operationId: 'listMessages',
    summary: 'List single sends and replies',
    description:
      'Newest first: single sends, test messages and inbound messages. `state=RECEIVED` with `campaign_id` lists the replies to a campaign. Messages of campaigns are listed as recipients.',
    tag: 'Messages',
    access: 'workspace',
    query: optional({
      cursor: MessageCursor,
      limit: limitUpTo(1000),
      phone_number: describe(textOf({ max: 40 }), {
        description: 'Only messages to or from this phone number.',
      }),
      contact_id: describe(Uuid, { description: 'Only messages to or from the contact with this id.' }),
      campaign_id: describe(Uuid, {
        description: 'Only replies to the campaign with this id, and its test messages.',
      }),
      state: repeated(MessageState),
      from: IsoDateTime,
      to: IsoDateTime,
    }),
    responses: { 200: oneCursorPage('One page of messages', Message, example) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, query }) => {
    const limit = query.limit ?? 100;
    const found = await records.listMessages(database, workspaceId, {
      phoneNumber: query.phone_number === undefined ? undefined : digitsOf(query.phone_number),
      contactId: query.contact_id,
      campaignId: query.campaign_id,
      states: query.state ?? [],
      from: query.from,
      to: query.to,
      after: query.cursor?.id,
      limit,
    });
    return { status: 200, body: presentPage(found, limit, { cursor, present }) };
  },
);

export const getMessageEndpoint = endpoint(
  {
    method: 'GET',
    path: '/api/messages/:id',
    operationId: 'getMessage',
    summary: 'Read a message',
    description: 'Takes the `messageId` of an event or a single send; it also finds messages of campaigns.',
    tag: 'Messages',
    access: 'workspace',
    params: struct({ id: idOf('Message') }),
    responses: { 200: answer('The message', Message, example) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id } }) => ({
    status: 200,
    body: succeed(present(await records.getMessage(database, workspaceId, id))),
  }),
);
