/** One event as an operation of the document's `webhooks`. */
import { exampleOfEvent } from '../../../codecs/event-example.ts';
import { eventEnvelope } from '../../../codecs/event.ts';
import { toJsonSchema, type JsonSchema, type NamedSchemas } from '../../../codecs/json-schema.ts';
import { eventDescriptions, type EventKey } from '../../../domain/webhooks/event-key.ts';
import { eventHeaders } from './answer-headers.ts';

export function eventOperation(key: EventKey, schemas: NamedSchemas): JsonSchema {
  return {
    operationId: `on.${key}`,
    summary: eventDescriptions[key],
    tags: ['Events'],
    security: [],
    parameters: eventHeaders(key),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: toJsonSchema(eventEnvelope(key), schemas),
          example: exampleOfEvent(key, 1001),
        },
      },
    },
    responses: {
      '2XX': { description: `The receiver has the \`${key}\` event; any other answer is a failed delivery` },
    },
  };
}
