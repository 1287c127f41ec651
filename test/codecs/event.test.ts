import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { isRight } from 'fp-ts/lib/Either.js';
import type * as t from 'io-ts';
import { describe, expect, it } from 'vitest';
import { eventDataCodecs, eventEnvelope } from '../../src/codecs/event.ts';
import { serialiseEvent } from '../../src/domain/webhooks/new-event.ts';
import { toJsonSchema } from '../../src/codecs/json-schema.ts';
import { eventExamples, exampleEvent } from '../../src/codecs/event-example.ts';
import { eventDescriptions, eventKeys } from '../../src/domain/webhooks/event-key.ts';

const now = new Date('2026-11-21T09:00:00.120Z');
const codecOf = (eventKey: keyof typeof eventDataCodecs): t.Mixed => eventDataCodecs[eventKey];

/** Every path of an object with the type at its end; array items count as one. */
function paths(value: unknown, prefix = ''): string[] {
  if (Array.isArray(value)) return value.slice(0, 1).flatMap((item) => paths(item, `${prefix}[]`));
  if (typeof value !== 'object' || value === null)
    return [`${prefix}: ${value === null ? 'null' : typeof value}`];
  return Object.entries(value).flatMap(([key, item]) => paths(item, `${prefix}.${key}`));
}

describe.each(eventKeys)('the event %s', (eventKey) => {
  it('has an example that its codec takes without dropping a field', () => {
    const decoded = codecOf(eventKey).decode(eventExamples[eventKey]);
    expect(isRight(decoded) && decoded.right).toEqual(eventExamples[eventKey]);
  });

  it('has a schema that its request body fits', () => {
    const ajv = new Ajv2020({ strict: false });
    formats.default(ajv);
    const validate = ajv.compile(toJsonSchema(eventEnvelope(eventKey)));
    const body: unknown = JSON.parse(serialiseEvent(1001, exampleEvent(eventKey, now)));
    expect(validate(body) ? [] : validate.errors).toEqual([]);
    expect(validate({ ...(body as object), workspaceId: '1001' })).toBe(false);
    expect(validate({ ...(body as object), data: {} })).toBe(false);
  });

  it('is described', () => {
    expect(eventDescriptions[eventKey]).toMatch(/\.$/);
  });
});

describe('the fields of the specification', () => {
  it.each([
    [
      'incoming',
      [
        '.message.id',
        '.message.from',
        '.message.timestamp',
        '.message.type',
        '.message.text.body',
        '.phoneNumberId',
      ],
    ],
    [
      'sent',
      [
        '.status.id',
        '.status.status',
        '.status.timestamp',
        '.status.recipient_id',
        '.phoneNumberId',
        '.messageSource',
      ],
    ],
    [
      'template',
      [
        '.type',
        '.providerTemplateId',
        '.newStatus',
        '.name',
        '.language',
        '.template.id',
        '.template.provider_template_status',
      ],
    ],
    [
      'contact.created',
      [
        '.contact.id',
        '.contact.phoneNumber',
        '.contact.countryCode',
        '.contact.customFields[].fieldId',
        '.contact.tagsId[]',
        '.contact.dob',
      ],
    ],
    [
      'conversation.assigned',
      [
        '.conversationId',
        '.assignmentType',
        '.assignedTo.firstName',
        '.assignedBy.email',
        '.chatMode',
        '.source',
      ],
    ],
    ['conversation.status_changed', ['.previousStatus', '.newStatus', '.closedAt', '.changedBy.name']],
  ] as const)('of %s are strings in their places', (eventKey, expected) => {
    expect(paths(eventExamples[eventKey])).toEqual(
      expect.arrayContaining(expected.map((path) => `${path}: string`)),
    );
  });

  it('of a status carry the price, and of a failure the errors', () => {
    expect(paths(eventExamples.sent)).toEqual(
      expect.arrayContaining([
        '.status.pricing.billable: boolean',
        '.status.pricing.pricing_model: string',
        '.status.pricing.category: string',
        '.providerEvent.statuses[].id: string',
      ]),
    );
    expect(paths(eventExamples.failed)).toContain('.status.errors[].code: number');
  });

  it.each([
    ['incoming', { message: {}, phoneNumberId: '1' }],
    ['sent', { ...eventExamples.sent, messageSource: 'nobody' }],
    ['template', { ...eventExamples.template, reason: 7 }],
    ['contact.created', { contact: { ...eventExamples['contact.created'].contact, subscribed: 'yes' } }],
    ['conversation.status_changed', { ...eventExamples['conversation.status_changed'], newStatus: 'gone' }],
  ] as const)('refuse data of %s that does not fit', (eventKey, data) => {
    expect(isRight(codecOf(eventKey).decode(data))).toBe(false);
  });
});

describe('serialiseEvent', () => {
  it('writes the envelope of the specification and nothing else', () => {
    const body = JSON.parse(serialiseEvent(1001, exampleEvent('template', now)));
    expect(body).toEqual({
      eventKey: 'template',
      workspaceId: 1001,
      timestamp: '2026-11-21T09:00:00.120Z',
      data: eventExamples.template,
    });
    expect(Object.keys(body)).toEqual(['eventKey', 'workspaceId', 'timestamp', 'data']);
  });
});
