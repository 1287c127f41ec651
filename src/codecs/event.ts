/**
 * Codecs of the data of every event (Spec 6.3); they build, document and test the events. Objects of the provider are passed on
 * unchanged: their codecs name the fields of the specification and keep all others.
 */
import * as t from 'io-ts';
import { consents } from '../domain/contacts/consent.ts';
import {
  assignmentSources,
  assignmentTypes,
  chatModes,
  conversationStatuses,
} from '../domain/conversations/conversation.ts';
import type { EventKey } from '../domain/webhooks/event-key.ts';
import { describe, named } from './json-schema.ts';
import { Digits } from './scalars.ts';
import { nullish, oneOf, optional, struct } from './struct.ts';

const dateTime = describe(new t.StringType(), { format: 'date-time' });
const uuid = describe(new t.StringType(), { format: 'uuid' });
const epochSeconds = describe(new t.StringType(), { pattern: '^\\d+$' });

const textMessage = named(
  'InboundMessage',
  t.intersection([
    t.type({ id: t.string, from: t.string, timestamp: epochSeconds, type: t.string }),
    t.partial({ text: named('MessageText', t.type({ body: t.string })) }),
  ]),
);

const providerNotification = named(
  'ProviderNotification',
  t.type({
    object: t.string,
    entry: t.array(
      named(
        'ProviderEntry',
        t.type({
          id: t.string,
          changes: t.array(named('ProviderChange', t.type({ field: t.string, value: t.UnknownRecord }))),
        }),
      ),
    ),
  }),
);

export const IncomingData = named(
  'IncomingData',
  struct(
    {
      message: textMessage,
      phoneNumberId: t.string,
      messageId: describe(uuid, { description: 'Id of the message in this service.' }),
      campaignId: describe(nullish(uuid), {
        description: 'Id of the campaign whose message the contact answered; null without one.',
      }),
      contactId: nullish(uuid),
      conversationId: nullish(uuid),
      providerEvent: providerNotification,
    },
    {
      standby: describe(new t.BooleanType(), {
        description: 'True if another app on the same number answers this conversation; absent otherwise.',
      }),
    },
  ),
);
export type IncomingData = t.TypeOf<typeof IncomingData>;

const pricing = named(
  'MessagePricing',
  t.intersection([
    t.type({ pricing_model: t.string, category: t.string }),
    t.partial({
      billable: t.boolean,
      type: describe(new t.StringType(), {
        description: '`regular`, `free_customer_service` or `free_entry_point`; counts before `billable`.',
      }),
    }),
    t.UnknownRecord,
  ]),
);

// `pricing` comes with some statuses only, `errors` with `failed`. `biz_opaque_callback_data` is our id of the message.
const messageStatus = named(
  'MessageStatus',
  t.intersection([
    t.type({ id: t.string, status: t.string, timestamp: epochSeconds, recipient_id: t.string }),
    t.partial({
      pricing,
      errors: t.array(t.UnknownRecord),
      biz_opaque_callback_data: describe(new t.StringType(), {
        description: 'Id of the message in this service, if the provider returned it.',
      }),
    }),
  ]),
);

/** Senders of the message that a status event is about. */
export const messageSources = ['campaign', 'api', 'inbox', 'chatbot', 'assistant', 'app', 'unknown'] as const;
export type MessageSource = (typeof messageSources)[number];

export const MessageStatusData = named(
  'MessageStatusData',
  struct({
    status: messageStatus,
    phoneNumberId: t.string,
    messageSource: oneOf(messageSources, 'MessageSource'),
    messageId: describe(nullish(uuid), {
      description: 'Id of the message in this service; null if another system sent it.',
    }),
    campaignId: describe(nullish(uuid), {
      description: 'Id of the message’s campaign; null for single sends and test messages.',
    }),
    contactId: nullish(uuid),
    providerEvent: named('ProviderStatuses', t.type({ statuses: t.array(messageStatus) })),
  }),
);
export type MessageStatusData = t.TypeOf<typeof MessageStatusData>;

const templateRemark = named(
  'TemplateRemark',
  optional({ title: t.string, description: t.string, reason: t.string, recommendation: t.string }),
);

export const TemplateData = named(
  'TemplateData',
  struct(
    {
      type: oneOf(['STATUS', 'CATEGORY'], 'TemplateChange'),
      providerTemplateId: t.string,
      newStatus: t.string,
      name: t.string,
      language: t.string,
      reason: nullish(t.string),
      template: named(
        'ChangedTemplate',
        struct({
          id: uuid,
          name: t.string,
          language: t.string,
          provider_template_id: t.string,
          provider_template_status: t.string,
        }),
      ),
    },
    {
      // The provider's remarks in addition to the reason; absent if there are none.
      otherInfo: templateRemark,
      rejectionInfo: templateRemark,
    },
  ),
);
export type TemplateData = t.TypeOf<typeof TemplateData>;

/** Spec 2.5. `dob` is null when unknown. */
export const EventContact = named(
  'Contact',
  struct({
    id: uuid,
    firstName: t.string,
    lastName: t.string,
    chatName: t.string,
    username: t.string,
    email: t.string,
    phoneNumber: Digits,
    countryCode: Digits,
    source: t.string,
    subscribed: t.boolean,
    consent: oneOf(consents, 'ContactConsent'),
    customFields: t.array(named('CustomField', struct({ fieldId: t.string, value: t.string }))),
    tagsId: t.array(uuid),
    dob: nullish(dateTime),
    createdAt: dateTime,
    updatedAt: dateTime,
  }),
);

const ContactData = named('ContactData', struct({ contact: EventContact }));
export type ContactData = t.TypeOf<typeof ContactData>;

export const AssigneeRecord = named(
  'Assignee',
  struct({
    id: nullish(t.string),
    name: nullish(t.string),
    firstName: nullish(t.string),
    lastName: nullish(t.string),
    email: nullish(t.string),
  }),
);

const actor = named(
  'Actor',
  struct({ id: nullish(t.string), name: nullish(t.string), email: nullish(t.string) }),
);

const conversationIds = {
  conversationId: uuid,
  channelId: uuid,
  phoneNumberId: t.string,
  contactId: uuid,
};

const ConversationAssignedData = named(
  'ConversationAssignedData',
  struct({
    ...conversationIds,
    assignmentType: oneOf(assignmentTypes, 'AssignmentType'),
    assignedTo: nullish(AssigneeRecord),
    assignedBy: nullish(actor),
    chatMode: oneOf(chatModes, 'ChatMode'),
    source: oneOf(assignmentSources, 'AssignmentSource'),
  }),
);
export type ConversationAssignedData = t.TypeOf<typeof ConversationAssignedData>;

const conversationStatus = oneOf(conversationStatuses, 'ConversationStatus');

/** `closedAt` is null unless the new status is `closed`; `changedBy` is null for automatic changes. */
const ConversationStatusChangedData = named(
  'ConversationStatusChangedData',
  struct({
    ...conversationIds,
    previousStatus: conversationStatus,
    newStatus: conversationStatus,
    closedAt: nullish(dateTime),
    changedBy: nullish(actor),
  }),
);
export type ConversationStatusChangedData = t.TypeOf<typeof ConversationStatusChangedData>;

/** The codec of every key's `data`. */
export const eventDataCodecs = {
  incoming: IncomingData,
  sent: MessageStatusData,
  delivered: MessageStatusData,
  read: MessageStatusData,
  failed: MessageStatusData,
  template: TemplateData,
  'contact.created': ContactData,
  'contact.updated': ContactData,
  'conversation.assigned': ConversationAssignedData,
  'conversation.status_changed': ConversationStatusChangedData,
} as const satisfies Record<EventKey, t.Mixed>;

/** The envelope of one event key (Spec 6.1): the body of the request to the receiver. */
export function eventEnvelope<K extends EventKey>(eventKey: K) {
  return named(
    `${eventName(eventKey)}Event`,
    struct({
      eventKey: t.literal(eventKey),
      workspaceId: describe(new t.NumberType(), { type: 'integer' }),
      timestamp: dateTime,
      data: eventDataCodecs[eventKey],
    }),
  );
}

/** `conversation.status_changed` → `ConversationStatusChanged` */
export const eventName = (key: EventKey): string =>
  key.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase());
