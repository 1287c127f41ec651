/** Spec 4.7: the webhook configurations of a workspace. */
import { idOf, limitUpTo, Page } from '../../codecs/scalars.ts';
import { optional, struct } from '../../codecs/struct.ts';
import type { Dependencies } from '../../dependencies.ts';
import { Invalid } from '../../domain/error.ts';
import { targetUrlMessage } from '../../outbound/address-guard.ts';
import { createId } from '../../records/database/uuid-v7.ts';
import * as records from '../../records/webhooks/configurations.ts';
import type { SecretBox, SecretRow } from '../../secrets.ts';
import { endpoint } from '../frame/endpoint.ts';
import {
  acknowledge,
  acknowledgement,
  answer,
  answerWith,
  onePage,
  page,
  succeed,
  succeedWith,
} from '../frame/envelope.ts';
import { createOnce } from '../frame/idempotency.ts';
import { CreateWebhook, UpdateWebhook, Webhook } from './codecs.ts';
import { webhookExample } from './examples.ts';

const tag = 'Webhooks';
const collection = '/api/external-webhooks';
const params = struct({ id: idOf('Webhook') });

/** Throws Invalid for a URL that the address guard refuses; names are checked when they are dialled. */
function assertTargetUrl({ outbound }: Dependencies, url: string): void {
  const check = outbound.checkUrl(url);
  if (!check.ok) throw Invalid.at('url', targetUrlMessage('url', check.problem));
}

export const createWebhook = endpoint(
  {
    method: 'POST',
    path: collection,
    operationId: 'createWebhook',
    summary: 'Create a webhook',
    description:
      'At most 50 per workspace. Each event gets one attempt of five seconds; `…/resend-failed` repeats failed ones. The address must be public (`npm start` also allows loopback). With a secret every request is signed (see Webhooks at the top); the secret is stored encrypted and never returned.',
    tag,
    access: 'workspace',
    idempotent: true,
    body: CreateWebhook,
    bodyExample: {
      title: webhookExample.title,
      url: webhookExample.url,
      status: 'active',
      events: webhookExample.events,
      secret: 'a token of your own',
    },
    responses: {
      201: answerWith('Webhook', 'Webhook created successfully', Webhook, webhookExample),
    },
  },
  async ({ dependencies, principal, body, request }) => {
    assertTargetUrl(dependencies, body.url);
    const { database, secrets } = dependencies;
    const secret = body.secret ?? null;
    const id = createId();
    return createOnce(database, request.idempotency, async (transaction) => {
      const created = await records.insertWebhookConfiguration(transaction, principal.workspaceId, {
        id,
        title: body.title,
        url: body.url,
        status: body.status ?? 'active',
        events: body.events,
        secretEncrypted: secret === null ? null : secrets.encrypt(secret, `webhook ${id}`),
      });
      return { status: 201, body: succeedWith('Webhook created successfully', created) };
    });
  },
);

export const listWebhooks = endpoint(
  {
    method: 'GET',
    path: collection,
    operationId: 'listWebhooks',
    summary: 'List the webhooks of the workspace',
    description: 'Oldest first.',
    tag,
    access: 'workspace',
    query: optional({ page: Page, limit: limitUpTo(100) }),
    responses: { 200: onePage('One page of webhooks', Webhook, webhookExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, query }) => {
    const requested = { page: query.page ?? 1, limit: query.limit ?? 10 };
    const { items, total } = await records.listWebhookConfigurations(database, workspaceId, requested);
    return { status: 200, body: page(items, { ...requested, total }) };
  },
);

export const getWebhook = endpoint(
  {
    method: 'GET',
    path: `${collection}/:id`,
    operationId: 'getWebhook',
    summary: 'Read a webhook',
    tag,
    access: 'workspace',
    params,
    responses: { 200: answer('Webhook', Webhook, webhookExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id } }) => {
    return { status: 200, body: succeed(await records.getWebhookConfiguration(database, workspaceId, id)) };
  },
);

export const updateWebhook = endpoint(
  {
    method: 'PATCH',
    path: `${collection}/:id`,
    operationId: 'updateWebhook',
    summary: 'Change a webhook',
    description:
      '`events`, `url`, `status` and `secret` can change; other fields are ignored. `status: active` enables a disabled webhook. A new secret signs at once, beside the previous one for 24 hours; `null` removes both.',
    tag,
    access: 'workspace',
    params,
    body: UpdateWebhook,
    bodyExample: { status: 'inactive' },
    responses: {
      200: answerWith('Webhook after the change', 'Webhook updated successfully', Webhook, {
        ...webhookExample,
        status: 'inactive',
      }),
    },
  },
  async ({ dependencies, principal: { workspaceId }, params: { id }, body }) => {
    const { database, secrets } = dependencies;
    const { secret, ...change } = body;
    if (change.url !== undefined) assertTargetUrl(dependencies, change.url);
    const isChange = Object.values(body).some((value) => value !== undefined);
    const updated = isChange
      ? await records.updateWebhookConfiguration(database, workspaceId, id, {
          ...change,
          secret: typeof secret === 'string' ? newSecret(secrets, secret, `webhook ${id}`) : secret,
        })
      : await records.getWebhookConfiguration(database, workspaceId, id);
    return { status: 200, body: succeedWith('Webhook updated successfully', updated) };
  },
);

const newSecret = (secrets: SecretBox, secret: string, owner: SecretRow) => ({
  encrypted: secrets.encrypt(secret, owner),
  isStoredAs: (encrypted: Buffer) => {
    try {
      return secrets.decrypt(encrypted, owner) === secret;
    } catch {
      // The key of the stored secret is lost; a new secret is the way out.
      return false;
    }
  },
});

export const deleteWebhook = endpoint(
  {
    method: 'DELETE',
    path: `${collection}/:id`,
    operationId: 'deleteWebhook',
    summary: 'Delete a webhook',
    description: 'Deliveries that still wait are not sent.',
    tag,
    access: 'workspace',
    params,
    responses: { 200: acknowledgement('Deleted', 'Webhook deleted successfully') },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id } }) => {
    await records.deleteWebhookConfiguration(database, workspaceId, id);
    return { status: 200, body: acknowledge('Webhook deleted successfully') };
  },
);
