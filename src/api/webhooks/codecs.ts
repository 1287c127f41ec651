/** Codecs of webhook configurations and deliveries. */
import * as t from 'io-ts';
import type { WebhookDelivery } from '../../records/webhooks/deliveries.ts';
import { listOf } from '../../codecs/collections.ts';
import { WebhookEvent } from '../../codecs/webhook-event.ts';
import { describe, named } from '../../codecs/json-schema.ts';
import { cursorOf, Integer, IsoDateTime, textOf, Uuid } from '../../codecs/scalars.ts';
import {
  inOrder,
  needed,
  notBlank,
  nullish,
  oneOf,
  optional,
  refined,
  struct,
  withMessage,
} from '../../codecs/struct.ts';
import { eventKeys } from '../../domain/webhooks/event-key.ts';
import {
  chosenWebhookStatuses,
  deliveryStates,
  maxSecretLength,
  maxTitleLength,
  webhookDisabledReasons,
  webhookErrorCodes,
  webhookHealths,
  webhookStatuses,
} from '../../domain/webhooks/delivery.ts';

const eventKey = oneOf(eventKeys, 'EventKey');
const status = oneOf(chosenWebhookStatuses, 'ChosenWebhookStatus');
const health = oneOf(webhookHealths, 'WebhookHealthState');

const title = notBlank(textOf({ min: 1, max: maxTitleLength }));

// The handler asks the outbound guard whether the URL is allowed.
const url = describe(textOf({ min: 1, max: 2048 }), { pattern: '^[Hh][Tt][Tt][Pp][Ss]?:' });

const events = refined(
  listOf(eventKey),
  (keys) => keys.length > 0 && new Set(keys).size === keys.length,
  'events must hold at least one event key, and none twice',
  { minItems: 1, maxItems: eventKeys.length, uniqueItems: true },
);

const secret = withMessage(
  nullish(textOf({ min: 1, max: maxSecretLength })),
  `secret must be a text of 1 to ${maxSecretLength} characters`,
);

const neededEvents = needed(events, 'one or more of GET /api/external-webhooks/events');

/** Spec 2.6 and 4.7. */
export const CreateWebhook = inOrder(struct({ title, url, events: neededEvents }, { status, secret }), [
  'title',
  'url',
  'status',
  'events',
  'secret',
]);

/** Spec 4.7: what may change. A null secret removes it. */
export const UpdateWebhook = optional({ url, status, events, secret });

export const TestWebhook = struct({ eventKey });

/** The secret itself is never shown. */
export const Webhook = named(
  'Webhook',
  struct({
    id: Uuid,
    title: t.string,
    url: t.string,
    status: oneOf(webhookStatuses, 'WebhookStatus'),
    disabled_reason: nullish(oneOf(webhookDisabledReasons, 'WebhookDisabledReason')),
    health,
    recentAttempts: Integer,
    events: t.readonlyArray(eventKey),
    hasSecret: t.boolean,
    createdAt: IsoDateTime,
    updatedAt: IsoDateTime,
  }),
);

export const WebhookHealth = named(
  'WebhookHealth',
  struct({
    webhookId: Uuid,
    health,
    /** The first failure that no success has followed. */
    failingSince: nullish(IsoDateTime),
    consecutiveFailures: Integer,
    /** Deliveries that are not handed out yet; counted up to 10,000. */
    waiting: Integer,
  }),
);

const deliveryFields = {
  id: Uuid,
  webhookId: Uuid,
  eventId: Uuid,
  eventKey: t.string,
  state: oneOf(deliveryStates, 'DeliveryState'),
  errorCode: nullish(oneOf(webhookErrorCodes, 'DeliveryErrorCode')),
  responseStatus: nullish(Integer),
  responseExcerpt: nullish(t.string),
  durationMs: nullish(Integer),
  attemptedAt: nullish(IsoDateTime),
  createdAt: IsoDateTime,
};
export const Delivery = named('Delivery', struct(deliveryFields));
export const DeliveryDetail = named(
  'DeliveryDetail',
  struct({
    ...deliveryFields,
    payload: describe(nullish(t.string), {
      description: 'Body of the delivery; null after the event’s retention period.',
    }),
  }),
);

/** The last delivery of a page. */
export const DeliveryCursor = cursorOf(Uuid);
export const deliveryPage = {
  cursor: ({ id }: WebhookDelivery) => DeliveryCursor.encode(id),
  present: (delivery: WebhookDelivery) => delivery,
};

export const CatalogueEntry = named(
  'EventDescription',
  struct({
    eventKey,
    description: t.string,
    /** JSON Schema 2020-12 of the whole request body. */
    schema: t.UnknownRecord,
    example: WebhookEvent,
  }),
);

// Examples of the document, in wire form.

export const webhookExample = {
  id: '0199d6c1-0000-7000-8000-000000000001',
  title: 'Order desk',
  url: 'https://example.com/hooks/messages',
  status: 'active',
  disabled_reason: null,
  health: 'healthy',
  recentAttempts: 20,
  events: ['sent', 'delivered', 'failed'],
  hasSecret: true,
  createdAt: '2026-11-21T09:00:00.000Z',
  updatedAt: '2026-11-21T09:00:00.000Z',
};

export const webhookHealthExample = {
  webhookId: webhookExample.id,
  health: 'failing',
  failingSince: '2026-11-19T21:14:03.118Z',
  consecutiveFailures: 412,
  waiting: 3,
};

export const deliveryExample = {
  id: '0199d6c1-0000-7000-8000-000000000002',
  webhookId: webhookExample.id,
  eventId: '0199d6c1-0000-7000-8000-000000000003',
  eventKey: 'delivered',
  state: 'failed',
  errorCode: 'non_2xx',
  responseStatus: 503,
  responseExcerpt: 'Service Unavailable',
  durationMs: 48,
  attemptedAt: '2026-11-21T09:00:00.120Z',
  createdAt: '2026-11-21T09:00:00.000Z',
};

export const waitingDeliveryExample = {
  ...deliveryExample,
  state: 'pending',
  errorCode: null,
  responseStatus: null,
  responseExcerpt: null,
  durationMs: null,
  attemptedAt: null,
};
