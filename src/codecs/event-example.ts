import type { MessageStatusData } from './event.ts';
import type { EventData, NewEvent } from '../domain/webhooks/new-event.ts';
import type { EventKey } from '../domain/webhooks/event-key.ts';

const phoneNumberId = '106540352242922';
const conversationIds = {
  conversationId: '0199d6c1-0000-7000-8000-00000000000a',
  channelId: '0199d6c1-0000-7000-8000-00000000000b',
  phoneNumberId,
  contactId: '0199d6c1-0000-7000-8000-00000000000c',
};

const inboundMessage = {
  from: '919876543210',
  id: 'wamid.HBgMOTE5ODc2NTQzMjEwFQIAEhgg',
  timestamp: '1795251600',
  type: 'text',
  text: { body: 'Is it still available?' },
};

const messageId = '0199d6c1-0000-7000-8000-0000000000f2';

function statusExample(status: string, more: object = {}): MessageStatusData {
  const given = {
    id: 'wamid.HBgMOTE5ODc2NTQzMjEwFQIAERgS',
    status,
    timestamp: '1795251600',
    recipient_id: '919876543210',
    biz_opaque_callback_data: messageId,
    ...more,
  };
  return {
    status: given,
    phoneNumberId,
    messageSource: 'campaign',
    messageId,
    campaignId: '0199d6c1-0000-7000-8000-0000000000f1',
    contactId: conversationIds.contactId,
    providerEvent: { statuses: [given] },
  };
}

const pricing = { pricing: { billable: true, pricing_model: 'PMP', category: 'marketing' } };

const contact = {
  id: conversationIds.contactId,
  firstName: 'Asha',
  lastName: 'Rao',
  chatName: 'Asha',
  username: '',
  email: 'asha@example.com',
  phoneNumber: '9876543210',
  countryCode: '91',
  source: 'csv_import',
  subscribed: true,
  consent: 'all' as const,
  customFields: [{ fieldId: 'city', value: 'Pune' }],
  tagsId: ['0199d6c1-0000-7000-8000-00000000000d'],
  dob: '1990-04-12T00:00:00.000Z',
  createdAt: '2026-11-21T09:00:00.000Z',
  updatedAt: '2026-11-21T09:00:00.000Z',
};

/** One example of every event's data: shown in the catalogue and sent by a test delivery. */
export const eventExamples: { readonly [K in EventKey]: EventData<K> } = {
  incoming: {
    message: inboundMessage,
    phoneNumberId,
    messageId: '0199d6c1-0000-7000-8000-0000000000f3',
    campaignId: null,
    contactId: '0197c0de-0000-7000-8000-0000000000c1',
    conversationId: '0197c0de-0000-7000-8000-0000000000e1',
    providerEvent: {
      object: 'whatsapp_business_account',
      entry: [
        {
          id: '102290129340398',
          changes: [
            {
              field: 'messages',
              value: {
                messaging_product: 'whatsapp',
                metadata: { display_phone_number: '15550783881', phone_number_id: phoneNumberId },
                contacts: [{ profile: { name: 'Asha' }, wa_id: '919876543210' }],
                messages: [inboundMessage],
              },
            },
          ],
        },
      ],
    },
  },
  sent: statusExample('sent', pricing),
  delivered: statusExample('delivered', pricing),
  read: statusExample('read'),
  failed: statusExample('failed', {
    errors: [
      {
        code: 131026,
        title: 'Message undeliverable',
        message: 'Message undeliverable',
        error_data: { details: 'Message Undeliverable.' },
      },
    ],
  }),
  template: {
    type: 'STATUS',
    providerTemplateId: '1387372356726668',
    newStatus: 'APPROVED',
    name: 'order_update',
    language: 'en_US',
    reason: null,
    template: {
      id: '0199d6c1-0000-7000-8000-00000000000e',
      name: 'order_update',
      language: 'en_US',
      provider_template_id: '1387372356726668',
      provider_template_status: 'APPROVED',
    },
  },
  'contact.created': { contact },
  'contact.updated': { contact },
  'conversation.assigned': {
    ...conversationIds,
    assignmentType: 'user',
    assignedTo: {
      id: '42',
      name: 'Ravi Iyer',
      firstName: 'Ravi',
      lastName: 'Iyer',
      email: 'ravi@example.com',
    },
    assignedBy: { id: '7', name: 'Meera Nair', email: 'meera@example.com' },
    chatMode: 'manual',
    source: 'manual',
  },
  'conversation.status_changed': {
    ...conversationIds,
    previousStatus: 'open',
    newStatus: 'closed',
    closedAt: '2026-11-21T09:00:00.000Z',
    changedBy: { id: '7', name: 'Meera Nair', email: 'meera@example.com' },
  },
};

/** The example as a receiver gets it. */
export function exampleOfEvent(eventKey: EventKey, workspaceId: number) {
  return { eventKey, workspaceId, timestamp: '2026-11-21T09:00:00.000Z', data: eventExamples[eventKey] };
}

/** The example as an event that happens now. */
export function exampleEvent(eventKey: EventKey, now: Date): NewEvent {
  return { eventKey, occurredAt: now, data: eventExamples[eventKey] } as NewEvent;
}
