/** The health of a webhook's receiver. */
import { idOf } from '../../codecs/scalars.ts';
import { struct } from '../../codecs/struct.ts';
import { getWebhookHealth } from '../../records/webhooks/configurations.ts';
import { endpoint } from '../frame/endpoint.ts';
import { answer, succeed } from '../frame/envelope.ts';
import { WebhookHealth } from './codecs.ts';
import { webhookHealthExample } from './examples.ts';

export const readWebhookHealth = endpoint(
  {
    method: 'GET',
    path: '/api/external-webhooks/:id/health',
    operationId: 'getWebhookHealth',
    summary: 'Read the health of a webhook',
    description:
      'A receiver that only fails for three days, at least ten times, is `disabled`; set its status to `active` after repairing it.',
    tag: 'Webhooks',
    access: 'workspace',
    params: struct({ id: idOf('Webhook') }),
    responses: { 200: answer('Health over the last 20 attempts', WebhookHealth, webhookHealthExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id } }) => ({
    status: 200,
    body: succeed(await getWebhookHealth(database, workspaceId, id)),
  }),
);
