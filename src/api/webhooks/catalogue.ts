import * as t from 'io-ts';
import { eventEnvelope } from '../../codecs/event.ts';
import { toJsonSchema } from '../../codecs/json-schema.ts';
import { exampleOfEvent } from '../../codecs/event-example.ts';
import type { EventKey } from '../../domain/webhooks/event-key.ts';
import { eventDescriptions, eventKeys } from '../../domain/webhooks/event-key.ts';
import { endpoint } from '../frame/endpoint.ts';
import { answer, succeed } from '../frame/envelope.ts';
import { CatalogueEntry } from './codecs.ts';

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
