/** The delivery log of one configuration or of all, resends and test deliveries. */
import { idOf, Integer, IsoDateTime, limitUpTo, repeated } from '../../codecs/scalars.ts';
import { oneOf, optional, struct } from '../../codecs/struct.ts';
import { exampleEvent } from '../../codecs/event-example.ts';
import { eventKeys } from '../../domain/webhooks/event-key.ts';
import { serialiseEvent } from '../../domain/webhooks/new-event.ts';
import { deliveryStates, webhookErrorCodes } from '../../domain/webhooks/delivery.ts';
import { insertTestEvent } from '../../records/webhooks/events.ts';
import { getWebhookConfiguration } from '../../records/webhooks/configurations.ts';
import * as records from '../../records/webhooks/deliveries.ts';
import { endpoint } from '../frame/endpoint.ts';
import { answer, answerWith, oneCursorPage, presentPage, succeed, succeedWith } from '../frame/envelope.ts';
import {
  Delivery,
  DeliveryCursor,
  DeliveryDetail,
  deliveryExample,
  deliveryPage,
  TestWebhook,
  waitingDeliveryExample,
} from './codecs.ts';
import { named } from '../../codecs/json-schema.ts';
import { Invalid } from '../../domain/error.ts';

const tag = 'Webhooks';
const webhookPath = '/api/external-webhooks/:id';
const deliveryPath = `${webhookPath}/deliveries/:deliveryId` as const;
const webhookParams = struct({ id: idOf('Webhook') });
const deliveryParams = struct({ id: idOf('Webhook'), deliveryId: idOf('Delivery') });
const defaultLimit = 100;

export const listWebhookDeliveries = endpoint(
  {
    method: 'GET',
    path: `${webhookPath}/deliveries`,
    operationId: 'listWebhookDeliveries',
    summary: 'List the deliveries of a webhook',
    description: 'Newest first.',
    tag,
    access: 'workspace',
    params: webhookParams,
    query: optional({
      state: repeated(oneOf(deliveryStates, 'DeliveryState')),
      eventKey: repeated(oneOf(eventKeys, 'EventKey')),
      cursor: DeliveryCursor,
      limit: limitUpTo(1000),
    }),
    responses: { 200: oneCursorPage('One page of deliveries', Delivery, deliveryExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id }, query }) => {
    await getWebhookConfiguration(database, workspaceId, id);
    const limit = query.limit ?? defaultLimit;
    const found = await records.listDeliveries(database, workspaceId, {
      webhookId: id,
      states: query.state ?? [],
      eventKeys: query.eventKey ?? [],
      beforeId: query.cursor,
      limit,
    });
    return { status: 200, body: presentPage(found, limit, deliveryPage) };
  },
);

export const getWebhookDelivery = endpoint(
  {
    method: 'GET',
    path: deliveryPath,
    operationId: 'getWebhookDelivery',
    summary: 'Read one delivery',
    tag,
    access: 'workspace',
    params: deliveryParams,
    responses: {
      200: answer('The delivery', DeliveryDetail, {
        ...deliveryExample,
        payload: '{"eventKey":"delivered","data":{}}',
      }),
    },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id, deliveryId } }) => {
    const delivery = await records.getWebhookDelivery(database, workspaceId, { webhookId: id, deliveryId });
    return { status: 200, body: succeed(delivery) };
  },
);

export const resendWebhookDelivery = endpoint(
  {
    method: 'POST',
    path: `${deliveryPath}/resend`,
    operationId: 'resendWebhookDelivery',
    summary: 'Resend a delivery',
    description:
      'Creates a new delivery of the same event: body and `webhook-id` are the same, `webhook-timestamp` is new.',
    tag,
    access: 'workspace',
    params: deliveryParams,
    responses: {
      202: answerWith('New delivery, about to be sent', 'Delivery queued', Delivery, waitingDeliveryExample),
    },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id, deliveryId } }) => {
    await getWebhookConfiguration(database, workspaceId, id);
    const { eventId } = await records.getWebhookDelivery(database, workspaceId, {
      webhookId: id,
      deliveryId,
    });
    const delivery = await records.insertWebhookDelivery(database, workspaceId, {
      webhookId: id,
      eventId,
      cause: 'resend',
    });
    return { status: 202, body: succeedWith('Delivery queued', delivery) };
  },
);

export const testWebhook = endpoint(
  {
    method: 'POST',
    path: `${webhookPath}/test`,
    operationId: 'testWebhook',
    summary: 'Send an example event to a webhook',
    description:
      'Sends the catalogue’s example to this webhook only, whether or not it subscribes to the event.',
    tag,
    access: 'workspace',
    params: webhookParams,
    body: TestWebhook,
    bodyExample: { eventKey: 'delivered' },
    responses: {
      202: answerWith('New delivery, about to be sent', 'Delivery queued', Delivery, waitingDeliveryExample),
    },
  },
  async ({ dependencies: { database, now }, principal: { workspaceId }, params: { id }, body }) => {
    await getWebhookConfiguration(database, workspaceId, id);
    const event = exampleEvent(body.eventKey, now());
    const delivery = await database.transaction(async (transaction) => {
      const eventId = await insertTestEvent(transaction, workspaceId, {
        key: event.eventKey,
        body: serialiseEvent(workspaceId, event),
        occurredAt: event.occurredAt,
      });
      return records.insertWebhookDelivery(transaction, workspaceId, {
        webhookId: id,
        eventId,
        cause: 'test',
      });
    });
    return { status: 202, body: succeedWith('Delivery queued', delivery) };
  },
);

export const listDeliveries = endpoint(
  {
    method: 'GET',
    path: '/api/external-webhooks/deliveries',
    operationId: 'listDeliveries',
    summary: 'List the deliveries of all webhooks',
    description: 'Newest first. `from` and `to` limit the creation time.',
    tag,
    access: 'workspace',
    query: optional({
      state: repeated(oneOf(deliveryStates, 'DeliveryState')),
      error_code: repeated(oneOf(webhookErrorCodes, 'WebhookErrorCode')),
      from: IsoDateTime,
      to: IsoDateTime,
      cursor: DeliveryCursor,
      limit: limitUpTo(1000),
    }),
    responses: { 200: oneCursorPage('One page of deliveries', Delivery, deliveryExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, query }) => {
    const limit = query.limit ?? defaultLimit;
    const found = await records.listDeliveries(database, workspaceId, {
      states: query.state ?? [],
      errorCodes: query.error_code ?? [],
      from: query.from,
      to: query.to,
      beforeId: query.cursor,
      limit,
    });
    return { status: 200, body: presentPage(found, limit, deliveryPage) };
  },
);

const Resent = named('ResentDeliveries', struct({ count: Integer }));

export const resendFailed = endpoint(
  {
    method: 'POST',
    path: '/api/external-webhooks/:id/resend-failed',
    operationId: 'resendFailedDeliveries',
    summary: 'Resend the failed deliveries of a webhook',
    description:
      'Resends failed deliveries created from `since` until before `until`, except those of events that were delivered later or are waiting. Takes the earliest 10,000; repeat for the rest.',
    tag,
    access: 'workspace',
    params: struct({ id: idOf('Webhook') }),
    body: struct({ since: IsoDateTime, until: IsoDateTime }),
    bodyExample: { since: '2026-11-21T09:00:00.000Z', until: '2026-11-21T10:00:00.000Z' },
    responses: { 202: answerWith('Number of queued deliveries', 'Deliveries queued', Resent, { count: 17 }) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id }, body }) => {
    const { since, until } = body;
    if (until <= since) throw Invalid.at('until', 'until must be after since');
    await getWebhookConfiguration(database, workspaceId, id);
    const count = await records.resendFailedDeliveries(database, workspaceId, {
      webhookId: id,
      since,
      until,
    });
    return { status: 202, body: succeedWith('Deliveries queued', { count }) };
  },
);
