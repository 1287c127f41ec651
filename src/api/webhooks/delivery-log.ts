/** The delivery log of all configurations, and the resend of failed deliveries. */
import { named } from '../../codecs/json-schema.ts';
import { idOf, Integer, IsoDateTime, limitUpTo, repeated } from '../../codecs/scalars.ts';
import { oneOf, optional, struct } from '../../codecs/struct.ts';
import { Invalid } from '../../domain/error.ts';
import { deliveryStates, webhookErrorCodes } from '../../domain/webhooks/delivery.ts';
import { getWebhookConfiguration } from '../../records/webhooks/configurations.ts';
import * as records from '../../records/webhooks/deliveries.ts';
import { endpoint } from '../frame/endpoint.ts';
import { answerWith, presentPage, oneCursorPage, succeedWith } from '../frame/envelope.ts';
import { Delivery, DeliveryCursor, deliveryPage } from './codecs.ts';
import { deliveryExample } from './examples.ts';

const tag = 'Webhooks';
const defaultLimit = 100;

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
