/** Headers of answers and of events, as the document tells of them. */
import type { JsonSchema } from '../../../codecs/json-schema.ts';

export const errorHeaders: Readonly<Record<number, JsonSchema>> = {
  401: { 'WWW-Authenticate': { schema: { type: 'string' }, description: 'Names the header of the key' } },
  429: { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds' } },
  503: { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds; not always known' } },
};

/** Of what may be read from a standby. */
export const dataAge = {
  'X-Data-Age': {
    schema: { type: 'number' },
    description: 'Only of an answer from a standby: the seconds in which something may have changed since',
  },
};

export const eventHeaders: readonly JsonSchema[] = Object.entries({
  'webhook-id': 'The event; the same when it is sent again.',
  'webhook-timestamp': 'When this request left, in seconds since 1970.',
  'webhook-signature':
    'With a secret: `v1,` and the Base64 of HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<body>`.',
  'X-Webhook-Signature-256': 'With a secret: `sha256=` and the hex of HMAC-SHA256 over the body alone.',
  'X-Event-Key': 'What happened, as in the body.',
  'X-Webhook-Id': 'The webhook configuration.',
  'X-Workspace-Id': 'The workspace.',
}).map(([name, description]) => ({
  name,
  in: 'header',
  required: !/signature/i.test(name),
  description,
  schema: { type: 'string' },
}));
