/** Any event, as the API document shows it: a receiver decodes it by `eventKey`. */
import * as t from 'io-ts';
import { eventKeys } from '../domain/webhooks/event-key.ts';
import { eventEnvelope, eventName } from './event.ts';
import { describe, named } from './json-schema.ts';
import { ShapesType } from './struct-type.ts';

export const WebhookEvent = named(
  'WebhookEvent',
  describe(
    t.UnknownRecord,
    {
      discriminator: {
        propertyName: 'eventKey',
        mapping: Object.fromEntries(
          eventKeys.map((key) => [key, `#/components/schemas/${eventName(key)}Event`]),
        ),
      },
    },
    new ShapesType(eventKeys.map((key) => eventEnvelope(key))),
  ),
);
