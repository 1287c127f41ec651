/** Headers of responses and of events in the document. */
import type { JsonSchema } from '../../../codecs/json-schema.ts';

export const errorHeaders: Readonly<Record<number, JsonSchema>> = {
  401: {
    'WWW-Authenticate': {
      schema: { type: 'string' },
      description: 'Names the header that carries the API key',
    },
  },
  429: {
    'Retry-After': { schema: { type: 'integer' }, description: 'Seconds to wait before the next request' },
  },
  503: { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds to wait, if known' } },
};

/** Stored in `components/headers`; the responses refer to them. */
export const answerHeaders: Readonly<Record<string, JsonSchema>> = {
  'X-Request-Id': {
    schema: { type: 'string' },
    description: 'Id of the request in the log: yours if you sent one, else a new one',
  },
  'RateLimit-Limit': { schema: { type: 'integer' }, description: 'Most requests the key may send at once' },
  'RateLimit-Remaining': {
    schema: { type: 'integer' },
    description: 'Requests of RateLimit-Limit that are left',
  },
  'RateLimit-Reset': {
    schema: { type: 'integer' },
    description: 'Seconds until RateLimit-Remaining equals RateLimit-Limit',
  },
  'RateLimit-Policy': {
    schema: { type: 'string' },
    description: 'Requests per window in seconds, and the burst: `1000;w=1;burst=2000`',
  },
  'Idempotent-Replayed': {
    schema: { type: 'string', enum: ['true'] },
    description: '`true` on a stored response to an earlier request with the same Idempotency-Key',
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

/** Header parameters of an event's request. */
export const eventHeaders = (key: string): readonly JsonSchema[] =>
  Object.entries({
    'webhook-id': `Id of the \`${key}\` event; a resent event keeps it.`,
    'webhook-timestamp': `Time of this attempt to send \`${key}\`, in seconds since 1970 (UTC).`,
    'webhook-signature': `Signature of the \`${key}\` event if there is a secret: \`v1,\` and the Base64 of HMAC-SHA256 over \`<webhook-id>.<webhook-timestamp>.<body>\`.`,
    'X-Webhook-Signature-256': `Signature of the body of \`${key}\` if there is a secret: \`sha256=\` and the hex HMAC-SHA256.`,
    'X-Event-Key': `\`${key}\`, as in the body.`,
    'X-Webhook-Id': `Id of the webhook that receives \`${key}\`.`,
    'X-Workspace-Id': `Id of the workspace in which \`${key}\` happened.`,
  }).map(([name, description]) => ({
    name,
    in: 'header',
    required: !/signature/i.test(name),
    description,
    schema: { type: 'string' },
  }));
