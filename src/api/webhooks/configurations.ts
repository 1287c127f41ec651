/** Spec 4.7: the webhook configurations of a workspace, their health, and the events they can receive. */
import * as t from 'io-ts';
import { idOf, limitUpTo, Page } from '../../codecs/scalars.ts';
import { optional, struct } from '../../codecs/struct.ts';
import type { Dependencies } from '../../dependencies.ts';
import { Invalid } from '../../domain/error.ts';
import { targetUrlMessage } from '../../outbound/address-guard.ts';
import { createId } from '../../records/database/uuid-v7.ts';
import * as records from '../../records/webhooks/configurations.ts';
import { getWebhookHealth } from '../../records/webhooks/configurations.ts';
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
import {
  CatalogueEntry,
  CreateWebhook,
  UpdateWebhook,
  Webhook,
  webhookExample,
  WebhookHealth,
  webhookHealthExample,
} from './codecs.ts';
import { eventEnvelope } from '../../codecs/event.ts';
import { toJsonSchema } from '../../codecs/json-schema.ts';
import { exampleOfEvent } from '../../codecs/event-example.ts';
import { eventDescriptions, type EventKey, eventKeys } from '../../domain/webhooks/event-key.ts';

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

function catalogueEntry(eventKey: EventKey, workspaceId: number) {
  return {
    eventKey,
    description: eventDescriptions[eventKey],
    schema: toJsonSchema(eventEnvelope(eventKey)),
    example: exampleOfEvent(eventKey, workspaceId),
  };
}

export const listWebhookEvents = endpoint(
  {
    method: 'GET',
    path: '/api/external-webhooks/events',
    operationId: 'listWebhookEvents',
    summary: 'List the events a webhook can subscribe to',
    description: 'Every event key with a JSON Schema and an example of the request body.',
    tag: 'Webhooks',
    access: 'workspace',
    responses: {
      200: answer('Event catalogue', t.readonlyArray(CatalogueEntry), [
        catalogueEntry('contact.created', 1001),
      ]),
    },
  },
  async ({ principal: { workspaceId } }) => {
    return { status: 200, body: succeed(eventKeys.map((key) => catalogueEntry(key, workspaceId))) };
  },
);
