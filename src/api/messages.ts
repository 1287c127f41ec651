/** The single send (Spec 4.5), and the list of messages: single sends, test messages and replies. */
import * as t from 'io-ts';
import { listOf } from '../codecs/collections.ts';
import { describe, named } from '../codecs/json-schema.ts';
import { CountryCode, idOf, IsoDateTime, limitUpTo, repeated, textOf, Uuid } from '../codecs/scalars.ts';
import { inOrder, nullish, oneOf, optional, refined, shownAsOneOf, struct } from '../codecs/struct.ts';
import { exampleTemplateId } from '../codecs/template.ts';
import { VariableMapping } from '../codecs/variable-mapping.ts';
import { Amount } from '../codecs/wallet.ts';
import { sendTemplateMessage } from '../commands/messages/send-template-message.ts';
import type { Dependencies } from '../dependencies.ts';
import { consents } from '../domain/contacts/consent.ts';
import { NotFound, Overloaded, ProviderRefused, ProviderUnreachable } from '../domain/error.ts';
import { formatAmount } from '../domain/money.ts';
import { settlements } from '../domain/wallet/settlement.ts';
import { findChannelById } from '../records/workspaces/channels.ts';
import { findOutboundMessage, type OutboundMessage } from '../records/messages/outbound-messages.ts';
import { findConsentInForce, findExplanation } from '../records/messages/explanation.ts';
import { Consent, consentExample } from './consents.ts';
import { endpoint, type EndpointRequest } from './frame/endpoint.ts';
import {
  answer,
  answerWith,
  ErrorEnvelope,
  oneCursorPage,
  presentPage,
  succeed,
  succeedWith,
} from './frame/envelope.ts';
import { Message, MessageCursor, MessageState } from '../codecs/message.ts';
import { messageText } from '../domain/conversations/conversation.ts';
import { formsOfAll } from '../domain/number-rules.ts';
import { normalisePhoneNumber } from '../domain/phone-number.ts';
import * as records from '../records/messages/messages.ts';

const tag = 'Messages';
const sent = 'Template message sent successfully';
const outcomeUnknown =
  'The messaging provider gave no answer that can be read: whether the message was sent is not known, and it is not sent again';

const UserId = refined(
  t.string,
  (text) => /^[A-Z]{2}\.[A-Za-z0-9.]{1,140}$/.test(text),
  (field) => `${field} must be a user id of the provider, such as US.13491208655302741918`,
  { pattern: '^[A-Z]{2}\\.[A-Za-z0-9.]{1,140}$' },
);

const byNumber = {
  recipientPhoneNumber: describe(textOf({ max: 255 }), {
    description:
      'Phone number in any spelling; digits alone begin with the country calling code, such as `4915112345678`.',
  }),
  countryCode: describe(CountryCode, {
    description: 'Country calling code with `+`, such as `+49`: that of the phone number.',
  }),
};
const byUserId = {
  recipientUserId: describe(UserId, {
    description: 'Provider’s id of the user, for contacts whose number it hides.',
  }),
};
const content = { variables: listOf(t.string), variableMapping: VariableMapping };

const SendTemplateMessage = shownAsOneOf(
  inOrder(struct({ templateId: Uuid }, { ...byNumber, ...byUserId, ...content }), [
    'templateId',
    ...Object.keys({ ...byNumber, ...byUserId, ...content }),
  ]),
  [
    named('SendToPhoneNumber', struct({ templateId: Uuid, ...byNumber }, content)),
    named('SendToUserId', struct({ templateId: Uuid, ...byUserId }, content)),
  ],
);

export const SentMessage = named(
  'SentMessage',
  struct({
    messageId: Uuid,
    providerMessageId: nullish(t.string),
    status: t.string,
    recipientPhoneNumber: nullish(t.string),
    phoneNumberId: t.string,
  }),
);
type SentMessage = t.TypeOf<typeof SentMessage>;

const example = {
  templateId: exampleTemplateId,
  recipientPhoneNumber: '919876543210',
  countryCode: '+91',
  variables: ['Ada'],
};

export const sendMessage = endpoint(
  {
    method: 'POST',
    path: '/api/templates/external/message/send',
    operationId: 'sendTemplateMessage',
    summary: 'Send a template message to one recipient',
    description:
      'Sends at most once. If the provider gives no answer that can be read, the response is 502 `outcome_unknown`: the message may have been sent, and events report what became of it. Repeating the `Idempotency-Key` returns the same response and sends nothing.',
    tag,
    access: 'channel',
    idempotent: true,
    body: SendTemplateMessage,
    bodyExample: example,
    responses: {
      200: answerWith('The provider accepted the message', sent, SentMessage, {
        messageId: '0197c1f2-7a6e-7b52-9a40-3f0f6a3c9d11',
        providerMessageId: 'wamid.HBgMOTE5ODc2NTQzMjEw',
        status: 'accepted',
        recipientPhoneNumber: '919876543210',
        phoneNumberId: '106540352242922',
      }),
      502: {
        description: 'The provider cannot be reached, or gave no answer that can be read',
        body: ErrorEnvelope,
      },
    },
    errors: [404],
  },
  async ({ dependencies, principal, body, request }) => {
    const { idempotency } = request;
    if (idempotency.interrupted !== undefined) {
      return answerFromRecord({ dependencies, request, workspaceId: principal.workspaceId });
    }
    try {
      const { outcome, recipientPhoneNumber, phoneNumberId } = await sendTemplateMessage(dependencies, {
        ...body,
        workspaceId: principal.workspaceId,
        channelId: principal.channelId,
        onClaim: (transaction, messageId) => {
          request.nameMessage(messageId);
          return idempotency.reserve(transaction, messageId);
        },
      });
      if (outcome.kind === 'unknown') {
        const unknown = unknownAnswer(dependencies);
        await idempotency.complete(dependencies.database, unknown);
        return unknown;
      }
      const { messageId, providerMessageId, status } = outcome;
      const accepted = sentAnswer({
        messageId,
        providerMessageId,
        status,
        recipientPhoneNumber,
        phoneNumberId,
      });
      await idempotency.complete(dependencies.database, accepted);
      return accepted;
    } catch (error) {
      // Only these are thrown after the reservation was committed although nothing was sent.
      if ([ProviderRefused, ProviderUnreachable, Overloaded].some((kind) => error instanceof kind)) {
        await idempotency.release(dependencies.database);
      }
      throw error;
    }
  },
);

export const sentAnswer = (data: SentMessage) => ({ status: 200, body: succeedWith(sent, data) }) as const;

export const unknownAnswer = ({ now }: Pick<Dependencies, 'now'>) =>
  ({
    status: 502,
    body: {
      status: 'error',
      code: 502,
      error_code: 'outcome_unknown',
      message: outcomeUnknown,
      timestamp: now(),
    },
  }) as const;

interface Interrupted {
  readonly dependencies: Dependencies;
  readonly request: EndpointRequest;
  readonly workspaceId: number;
}

/** Answers from the message's record, because the process of the first request with this key died. */
async function answerFromRecord({ dependencies, request: { idempotency }, workspaceId }: Interrupted) {
  const { database } = dependencies;
  const message = await findOutboundMessage(database, workspaceId, idempotency.interrupted?.resourceId ?? '');
  if (message === undefined || message.state === 'CLAIMED' || message.state === 'UNKNOWN') {
    return unknownAnswer(dependencies);
  }
  if (message.state === 'FAILED' && message.providerMessageId === null) {
    await idempotency.release(database);
    throw refusalOf(message);
  }
  const channel = await findChannelById(database, message.channelId);
  const accepted = sentAnswer({
    messageId: message.id,
    providerMessageId: message.providerMessageId,
    status: 'accepted',
    recipientPhoneNumber: message.phoneNumber,
    phoneNumberId: channel?.phoneNumberId ?? '',
  });
  await idempotency.complete(database, accepted);
  return accepted;
}

function refusalOf({ reason, reasonDetail }: OutboundMessage): Error {
  const code = /^PROVIDER_(\d+)$/.exec(reason ?? '')?.[1];
  return code === undefined
    ? new ProviderUnreachable()
    : new ProviderRefused(Number(code), reasonDetail ?? '');
}

const messageExample = {
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

const present = ({ content: stored, ...message }: records.MessageRow) => ({
  ...message,
  source: message.source as 'contact',
  text: messageText(stored),
});

const cursor = ({ id }: records.MessageRow) => MessageCursor.encode({ id });
/** Every form of the number. */
const numbersOf = (text: string): readonly string[] => {
  const number = normalisePhoneNumber(text);
  return formsOfAll([number?.digits ?? text.replaceAll(/\D/g, '')]);
};

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
      phone_number: describe(textOf({ max: 255 }), {
        description: 'Only messages to or from this phone number, in any spelling.',
      }),
      contact_id: describe(Uuid, { description: 'Only messages to or from the contact with this id.' }),
      campaign_id: describe(Uuid, {
        description: 'Only replies to the campaign with this id, and its test messages.',
      }),
      state: repeated(MessageState),
      from: IsoDateTime,
      to: IsoDateTime,
    }),
    responses: { 200: oneCursorPage('One page of messages', Message, messageExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, query }) => {
    const limit = query.limit ?? 100;
    const found = await records.listMessages(database, workspaceId, {
      phoneNumbers: query.phone_number === undefined ? undefined : numbersOf(query.phone_number),
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
    responses: { 200: answer('The message', Message, messageExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id } }) => ({
    status: 200,
    body: succeed(present(await records.getMessage(database, workspaceId, id))),
  }),
);

const Explanation = named(
  'MessageExplanation',
  struct({
    message: describe(Message, { description: 'The message itself.' }),
    consent: describe(
      named(
        'ConsentInForce',
        struct({
          consent: describe(nullish(oneOf(consents, 'ContactConsent')), {
            description:
              'What the contact agreed to receive when the message left; null if it did not leave, or nothing had been recorded.',
          }),
          entry: describe(nullish(Consent), {
            description: 'The entry of the register that was in force; null without one.',
          }),
        }),
      ),
      { description: 'Consent in force when the message left.' },
    ),
    campaign: describe(
      nullish(
        named(
          'ExplainedCampaign',
          struct({ id: Uuid, name: describe(t.string, { description: 'Name of the campaign.' }) }),
        ),
      ),
      { description: 'The campaign that sent it; null for a single send and a message of the person.' },
    ),
    template: describe(
      nullish(
        named(
          'ExplainedTemplate',
          struct({
            id: Uuid,
            name: describe(t.string, { description: 'Name of the template.' }),
            language: t.string,
            category: t.string,
          }),
        ),
      ),
      { description: 'The template; null without one.' },
    ),
    price: describe(
      named(
        'ExplainedPrice',
        struct({
          amount: Amount,
          currency: describe(nullish(t.string), { description: 'ISO 4217; null without a wallet.' }),
          settlement: describe(oneOf(settlements, 'Settlement'), {
            description: 'none: nothing was charged. reserved: it may be charged. charged. refunded.',
          }),
        }),
      ),
      { description: 'What it cost.' },
    ),
    receipts: describe(
      named(
        'ExplainedReceipts',
        struct({
          accepted_at: describe(nullish(IsoDateTime), {
            description: 'When the provider took it; null if unknown.',
          }),
          sent_at: describe(nullish(IsoDateTime), { description: 'When it was sent; null if unknown.' }),
          delivered_at: describe(nullish(IsoDateTime), {
            description: 'When it was delivered; null if unknown.',
          }),
          read_at: describe(nullish(IsoDateTime), { description: 'When it was read; null if unknown.' }),
        }),
      ),
      { description: 'Times of a campaign’s message; of a single send its events tell.' },
    ),
  }),
);

export const explainMessage = endpoint(
  {
    method: 'GET',
    path: '/api/messages/:id/explanation',
    operationId: 'explainMessage',
    summary: 'Explain why a person was written to',
    description:
      'One document for a message: the consent that was in force when it left, with its evidence, the campaign, the template, the price and the receipts.',
    tag: 'Messages',
    access: 'workspace',
    params: struct({ id: idOf('Message') }),
    responses: {
      200: answer('The explanation', Explanation, {
        message: {
          ...messageExample,
          direction: 'outbound',
          source: 'campaign',
          state: 'READ',
          type: 'template',
        },
        consent: { consent: 'all', entry: consentExample },
        campaign: { id: '0197c1f2-6a6e-7b52-9a40-3f0f6a3c9d11', name: 'Spring offer' },
        template: { id: exampleTemplateId, name: 'hello_campaign', language: 'en_US', category: 'MARKETING' },
        price: { amount: '0.0107', currency: 'USD', settlement: 'charged' },
        receipts: {
          accepted_at: '2026-11-21T09:00:00.000Z',
          sent_at: '2026-11-21T09:00:01.000Z',
          delivered_at: '2026-11-21T09:00:02.000Z',
          read_at: null,
        },
      }),
    },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id } }) => {
    const message = await records.getMessage(database, workspaceId, id);
    const found = await findExplanation(database, workspaceId, id);
    if (found === undefined) throw new NotFound('Message');
    const { contactId, leftAt, campaignId, templateId } = found;
    const entry =
      contactId === null || leftAt === null
        ? undefined
        : await findConsentInForce(database, { workspaceId, contactId, at: leftAt });
    return {
      status: 200,
      body: succeed({
        message: present(message),
        consent: { consent: entry?.consent ?? null, entry: entry ?? null },
        campaign: campaignId === null ? null : { id: campaignId, name: found.campaignName ?? '' },
        template:
          templateId === null
            ? null
            : {
                id: templateId,
                name: found.templateName ?? '',
                language: found.templateLanguage ?? '',
                category: found.templateCategory ?? '',
              },
        price: {
          amount: formatAmount(found.price),
          currency: found.currency,
          settlement: found.settlement,
        },
        receipts: {
          accepted_at: found.acceptedAt,
          sent_at: found.sentAt,
          delivered_at: found.deliveredAt,
          read_at: found.readAt,
        },
      }),
    };
  },
);
