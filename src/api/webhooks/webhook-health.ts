/** The health of a webhook's receiver. */
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
      'By the last 20 attempts: `healthy` without a failure, `degraded` with some, `failing` without a success. A receiver that only fails for three days, ten times or more, is `disabled`; set its status to `active` again once it is repaired.',
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
