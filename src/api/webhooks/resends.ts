/** Resends of what a webhook missed: begin, progress, cancel. */
import { describe, named } from '../../codecs/json-schema.ts';
import { cursorOf, idOf, Integer, IsoDateTime, limitUpTo, Uuid } from '../../codecs/scalars.ts';
import { nullish, oneOf, optional, struct } from '../../codecs/struct.ts';
import { Invalid } from '../../domain/error.ts';
import { resendStates } from '../../domain/webhooks/delivery.ts';
import { getWebhookConfiguration } from '../../records/webhooks/configurations.ts';
import * as records from '../../records/webhooks/resends.ts';
import { endpoint } from '../frame/endpoint.ts';
import { answer, answerWith, cutPage, oneCursorPage, succeed, succeedWith } from '../frame/envelope.ts';

const tag = 'Webhooks';
const path = '/api/external-webhooks/:id/resend-missed';
const onePath = `${path}/:resendId` as const;
const params = struct({ id: idOf('Webhook') });
const oneParams = struct({ id: idOf('Webhook'), resendId: idOf('Resend') });

const Resend = named(
  'Resend',
  struct({
    id: Uuid,
    webhookId: Uuid,
    since: IsoDateTime,
    until: IsoDateTime,
    state: describe(oneOf(resendStates, 'ResendState'), {
      description:
        'running: deliveries are being made; waits while the webhook is not active. completed: all were made. cancelled: you cancelled it.',
    }),
    total: describe(nullish(Integer), {
      description: 'Failed deliveries of the period at the start; null above 100,000.',
    }),
    seen: describe(Integer, { description: 'Failed deliveries that were looked at so far.' }),
    resent: describe(Integer, {
      description:
        'New deliveries so far: `seen` without those whose event was delivered after all or is no longer kept.',
    }),
    createdAt: IsoDateTime,
    endedAt: describe(nullish(IsoDateTime), { description: 'Time at which it ended; null while it runs.' }),
  }),
);

const example = {
  id: '0199d6c1-0000-7000-8000-000000000021',
  webhookId: '0199d6c1-0000-7000-8000-000000000001',
  since: '2026-11-21T09:00:00.000Z',
  until: '2026-11-21T10:00:00.000Z',
  state: 'running',
  total: 4120,
  seen: 1200,
  resent: 1187,
  createdAt: '2026-11-21T10:05:00.000Z',
  endedAt: null,
};

const started = 'Resend started';

export const resendMissed = endpoint(
  {
    method: 'POST',
    path,
    operationId: 'resendMissed',
    summary: 'Send again what a webhook missed',
    description:
      'Makes a new delivery of each event whose deliveries failed or expired and were created from `since` until before `until`, except events that were delivered after all. At most 100 wait or are under way at a time, one while the receiver fails, so new events do not queue behind them. One resend of a webhook runs at a time; the webhook must be active.',
    tag,
    access: 'workspace',
    params,
    body: named(
      'ResendMissed',
      struct(
        { since: describe(IsoDateTime, { description: 'Start of the period.' }) },
        { until: describe(IsoDateTime, { description: 'End of the period, exclusive; default now.' }) },
      ),
    ),
    bodyExample: { since: example.since, until: example.until },
    responses: { 202: answerWith('The resend', started, Resend, example) },
    errors: [409],
  },
  async ({ dependencies: { database, now }, principal: { workspaceId }, params: { id }, body }) => {
    const { since } = body;
    // Its own deliveries are created later, so they are not of the period.
    const until = new Date(Math.min((body.until ?? now()).getTime(), now().getTime()));
    if (until <= since) throw Invalid.at('since', 'since must be before until and before now');
    const resend = await records.insertResend(database, workspaceId, { webhookId: id, since, until });
    return { status: 202, body: succeedWith(started, resend) };
  },
);

const ResendCursor = cursorOf(Uuid);

export const listResends = endpoint(
  {
    method: 'GET',
    path,
    operationId: 'listResends',
    summary: 'List the resends of a webhook',
    description: 'Newest first.',
    tag,
    access: 'workspace',
    params,
    query: optional({ cursor: ResendCursor, limit: limitUpTo(100) }),
    responses: { 200: oneCursorPage('One page of resends', Resend, example) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id }, query }) => {
    await getWebhookConfiguration(database, workspaceId, id);
    const limit = query.limit ?? 10;
    const found = await records.listResends(database, workspaceId, {
      webhookId: id,
      before: query.cursor,
      limit: limit + 1,
    });
    const cursor = (resend: records.Resend) => ResendCursor.encode(resend.id);
    return { status: 200, body: cutPage(found, limit, { cursor, present: (resend) => resend }) };
  },
);

export const getResend = endpoint(
  {
    method: 'GET',
    path: onePath,
    operationId: 'getResend',
    summary: 'Read the progress of a resend',
    tag,
    access: 'workspace',
    params: oneParams,
    responses: { 200: answer('The resend', Resend, example) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id, resendId } }) => {
    const resend = await records.getResend(database, workspaceId, { webhookId: id, resendId });
    return { status: 200, body: succeed(resend) };
  },
);

const cancelled = 'Resend cancelled';

export const cancelResend = endpoint(
  {
    method: 'POST',
    path: `${onePath}/cancel`,
    operationId: 'cancelResend',
    summary: 'Cancel a resend',
    description:
      'No further deliveries are made; those that wait are sent. One that has ended stays as it is.',
    tag,
    access: 'workspace',
    params: oneParams,
    responses: {
      200: answerWith('The resend', cancelled, Resend, {
        ...example,
        state: 'cancelled',
        endedAt: '2026-11-21T10:06:00.000Z',
      }),
    },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id, resendId } }) => {
    const resend = await records.cancelResend(database, workspaceId, { webhookId: id, resendId });
    return { status: 200, body: succeedWith(cancelled, resend) };
  },
);
