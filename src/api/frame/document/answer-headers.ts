/** Headers of answers and of events, as the document tells of them. */
import type { JsonSchema } from '../../../codecs/json-schema.ts';

export const errorHeaders: Readonly<Record<number, JsonSchema>> = {
  401: { 'WWW-Authenticate': { schema: { type: 'string' }, description: 'Names the header of the key' } },
  429: { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds' } },
  503: { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds; not always known' } },
};

/** Named in `components/headers`; the answers refer to them. */
export const answerHeaders: Readonly<Record<string, JsonSchema>> = {
  'X-Request-Id': {
    schema: { type: 'string' },
    description: 'The request’s own id, or one made here; the log has it',
  },
  'RateLimit-Limit': { schema: { type: 'integer' }, description: 'Requests that the key may send at once' },
  'RateLimit-Remaining': { schema: { type: 'integer' }, description: 'Requests that are left of them' },
  'RateLimit-Reset': { schema: { type: 'integer' }, description: 'Seconds until all of them are left again' },
  'RateLimit-Policy': {
    schema: { type: 'string' },
    description: 'Requests per window of seconds, and the burst: `1000;w=1;burst=2000`',
  },
  'Idempotent-Replayed': {
    schema: { type: 'string', enum: ['true'] },
    description: 'Only of a stored answer to an earlier request with the same Idempotency-Key',
  },
};

const rateLimited = /^RateLimit-/;

/** References to the headers of an operation's successful answers. */
export function headersOf({
  access,
  idempotent,
}: {
  readonly access: string;
  readonly idempotent?: true | undefined;
}): JsonSchema {
  const names = Object.keys(answerHeaders).filter((name) => {
    if (name === 'Idempotent-Replayed') return idempotent === true;
    return access !== 'public' || !rateLimited.test(name);
  });
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

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
