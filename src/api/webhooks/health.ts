/** Whether the receiver of a configuration keeps failing: said, and never acted upon by itself. */
import { idOf } from '../../codecs/scalars.ts';
import { struct } from '../../codecs/struct.ts';
import { getWebhookHealth } from '../../records/webhooks/health.ts';
import { endpoint } from '../frame/endpoint.ts';
import { answer, succeed } from '../frame/envelope.ts';
import { WebhookHealth } from './codecs.ts';
import { webhookHealthExample } from './examples.ts';

export const readWebhookHealth = endpoint(
  {
    method: 'GET',
    path: '/api/external-webhooks/:id/health',
    operationId: 'getWebhookHealth',
    summary: 'Read how the receiver of a webhook configuration is doing',
    description:
      '`failing` since the first failure that no success has followed. A configuration is never switched off by itself.',
    tag: 'Webhooks',
    access: 'workspace',
    params: struct({ id: idOf('Webhook') }),
    responses: { 200: answer('What the last outcomes say', WebhookHealth, webhookHealthExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id } }) => ({
    status: 200,
    body: succeed(await getWebhookHealth(database, workspaceId, id)),
  }),
);
