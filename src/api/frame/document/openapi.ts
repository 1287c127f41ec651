/** The declarations as an OpenAPI 3.1 document: nothing in it is written twice. */
import * as t from 'io-ts';
import {
  type JsonSchema,
  named,
  type NamedSchemas,
  nameOf,
  toJsonSchema,
} from '../../../codecs/json-schema.ts';
import { eventDescriptions, type EventKey, eventKeys } from '../../../domain/webhooks/event-key.ts';
import { failures, guide, keyDescription } from './guide.ts';
import type { Declaration, Endpoint, ResponseDeclaration } from '../endpoint.ts';
import { codeOfStatus } from '../error-envelope.ts';
import { ErrorEnvelope } from '../envelope.ts';
import { described, describedParameter, idInPath } from './describe-fields.ts';
import { exampleOfEvent } from '../../../codecs/event-example.ts';
import { eventEnvelope } from '../../../codecs/event.ts';

export type OpenApiDocument = JsonSchema;

const tagDescriptions: Readonly<Record<string, string>> = {
  Campaigns: 'Send one template to many contacts',
  Messages: 'Send one template to one recipient',
  Templates: "The provider's templates, their variables and payload skeletons",
  Tags: 'Labels of contacts',
  Contacts: 'People the workspace can write to',
  Segments: 'Saved filters of contacts',
  Conversations: 'Conversations with contacts: assignment and status',
  Channels: 'Sending numbers and their rates',
  Workspace: 'Settings of the workspace',
  Wallet: 'Balance of a channel and prices of messages',
  Webhooks: 'Addresses that receive events, and the log of deliveries',
  Provider: 'Callbacks of the messaging provider',
  Operations: 'Health, metrics and this description',
  Events: 'Requests that webhooks receive: one attempt of 5 seconds, at most 256 KB',
};

/** Throws when a codec has no JSON Schema or a path and its parameters disagree. */
export function openApiDocument(endpoints: readonly Endpoint[]): OpenApiDocument {
  const declarations = endpoints
    .map(({ declaration }) => declaration)
    .filter(({ undocumented }) => !undocumented);
  const schemas: NamedSchemas = new Map();
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const declaration of declarations) {
    const path = declaration.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [declaration.method.toLowerCase()]: operation(declaration, schemas) };
  }
  toJsonSchema(ErrorEnvelope, schemas);
  const webhooks = Object.fromEntries(eventKeys.map((key) => [key, { post: eventOperation(key, schemas) }]));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Messaging campaigns',
      version: '1.0.0',
      description: guide,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(declarations.map(({ tag }) => tag)), 'Events'].map((name) => ({
      name,
      description: tagDescriptions[name],
    })),
    security: [{ apiKey: [] }],
    paths,
    webhooks,
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: keyDescription },
      },
      schemas: Object.fromEntries(
        [...withEnumNames(schemas)]
          .toSorted(([one], [other]) => one.localeCompare(other))
          .map(([name, schema]) => [name, described(name, schema)]),
      ),
      headers: answerHeaders,
      responses: Object.fromEntries(
        Object.entries(failures).map(([status, failure]) => [
          `Error${status}`,
          errorResponse(Number(status), failure),
        ]),
      ),
    },
  };
}

function operation(declaration: Declaration, schemas: NamedSchemas): JsonSchema {
  const { operationId, summary, description, tag, access, responses, deprecation } = declaration;
  const requestBody = bodyOf(declaration, schemas);
  return {
    operationId,
    summary,
    ...(description !== undefined && { description }),
    ...(deprecation !== undefined && {
      deprecated: true,
      description: `${description === undefined ? '' : `${description} `}Deprecated, may be gone from ${deprecation.sunset.toISOString().slice(0, 10)} on. ${deprecation.advice}`,
    }),
    tags: [tag],
    ...(access === 'public' && { security: [] }),
    parameters: parametersOf(declaration, schemas),
    ...(requestBody !== undefined && { requestBody }),
    responses: {
      ...Object.fromEntries(
        Object.entries(responses).map(([status, response]) => [
          status,
          responseOf(declaration, response, schemas),
        ]),
      ),
      ...Object.fromEntries(
        errorStatuses(declaration).map((status) => [
          String(status),
          { $ref: `#/components/responses/Error${status}` },
        ]),
      ),
    },
  };
}

/** The statuses of the error envelopes an operation can answer, in order. */
export function errorStatuses(declaration: Declaration): readonly number[] {
  const { access, params, query, body = 'none', idempotent, errors = [], responses } = declaration;
  const statuses = new Set([
    500,
    503,
    ...errors,
    ...(access === 'public' ? [] : [401, 429]),
    ...(params === undefined ? [] : [404]),
    ...(query === undefined && body === 'none' ? [] : [400]),
    ...(body === 'none' ? [] : [408, 413]),
    ...(body === 'none' || body === 'raw' ? [] : [415]),
    ...(idempotent ? [400, 409, 422] : []),
  ]);
  const own = [...statuses].filter((status) => responses[status] === undefined).toSorted((a, b) => a - b);
  const unknown = own.filter((status) => failures[status] === undefined);
  if (unknown.length > 0)
    throw new Error(`${declaration.operationId}: nothing describes ${unknown.join(', ')}`);
  return own;
}

function parametersOf(
  { path, params, query, idempotent }: Declaration,
  schemas: NamedSchemas,
): readonly JsonSchema[] {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');
  const inPath = fieldsOf(params, schemas);
  if (names.toSorted().join() !== Object.keys(inPath.properties).toSorted().join()) {
    throw new Error(`${path}: the path and its params disagree`);
  }
  const inQuery = fieldsOf(query, schemas);
  return [
    ...names.map((name) => {
      const description = idInPath(path, name);
      const schema = { description, ...inPath.properties[name] };
      return { name, in: 'path', required: true, ...describedParameter(name, schema) };
    }),
    ...Object.entries(inQuery.properties).map(([name, schema]) => ({
      name,
      in: 'query',
      required: inQuery.required.includes(name),
      ...describedParameter(name, schema),
    })),
    ...(idempotent ? [idempotencyParameter] : []),
  ];
}

const idempotencyParameter: JsonSchema = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Key of your choice, 1 to 255 ASCII characters. For 24 hours a request with the same key and the same bytes gets the stored response. Refused requests are not stored. Keys of different channels, workspaces or paths do not collide.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

function fieldsOf(
  codec: t.Mixed | undefined,
  schemas: NamedSchemas,
): {
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
} {
  if (codec === undefined) return { properties: {}, required: [] };
  const { properties = {}, required = [] } = toJsonSchema(codec, schemas);
  return { properties: properties as Record<string, JsonSchema>, required: required as readonly string[] };
}

function bodyOf(
  { operationId, body = 'none', bodyIsOptional, bodyExample, bodySchema, jsonBody }: Declaration,
  schemas: NamedSchemas,
): JsonSchema | undefined {
  if (body === 'none') return undefined;
  if (body === 'multipart') {
    const json = jsonBody && {
      'application/json': {
        schema: toJsonSchema(named(pascalCase(operationId), jsonBody), schemas),
        ...(bodyExample !== undefined && { example: bodyExample }),
      },
    };
    return { required: true, content: { 'multipart/form-data': { schema: bodySchema }, ...json } };
  }
  const schema = body === 'raw' ? bodySchema : toJsonSchema(named(pascalCase(operationId), body), schemas);
  const media = { schema, ...(bodyExample !== undefined && { example: bodyExample }) };
  return { required: bodyIsOptional !== true, content: { 'application/json': media } };
}

const pascalCase = (name: string): string => `${name[0]?.toUpperCase()}${name.slice(1)}`;

function responseOf(
  { operationId, access, idempotent }: Declaration,
  { description, body, example, content = {} }: ResponseDeclaration,
  schemas: NamedSchemas,
): JsonSchema {
  // The name does not end in `Response` or `Result`, because oapi-codegen and orval generate types with these names.
  const own = body && nameOf(body) === undefined ? named(`${pascalCase(operationId)}Envelope`, body) : body;
  const json = own && { schema: toJsonSchema(own, schemas), ...(example !== undefined && { example }) };
  const media = {
    ...(json !== undefined && { 'application/json': json }),
    ...Object.fromEntries(
      Object.entries(content).map(([type, schema]) => [
        type,
        { schema: schema instanceof t.Type ? toJsonSchema(schema, schemas) : schema },
      ]),
    ),
  };
  return {
    description,
    headers: headersOf({ access, idempotent }),
    ...(Object.keys(media).length > 0 && { content: media }),
  };
}

function errorResponse(
  code: number,
  { description, errorCode, ...envelope }: (typeof failures)[number],
): JsonSchema {
  const headers = errorHeaders[code];
  const example = {
    status: 'error',
    code,
    error_code: errorCode ?? codeOfStatus(code),
    ...envelope,
    timestamp: '2026-11-21T09:00:00.000Z',
  };
  return {
    description,
    ...(headers !== undefined && { headers }),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/ApiError' }, example } },
  };
}

/** One event as an operation of the document's `webhooks`. */
function eventOperation(key: EventKey, schemas: NamedSchemas): JsonSchema {
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

const errorHeaders: Readonly<Record<number, JsonSchema>> = {
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
const answerHeaders: Readonly<Record<string, JsonSchema>> = {
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
function headersOf({
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
const eventHeaders = (key: string): readonly JsonSchema[] =>
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

const upperSnake = (text: string): string =>
  text
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll(/\W/g, '_')
    .toUpperCase();

const valuesOf = (schema: Readonly<Record<string, unknown>>): readonly string[] =>
  schema['type'] === 'string' && Array.isArray(schema['enum']) ? schema['enum'].map(String) : [];

/**
 * Gives an enum names with its own name in front if it shares a value with another enum: generators need them for languages whose
 * enums have no scope, such as Go.
 */
function withEnumNames(schemas: NamedSchemas): NamedSchemas {
  const uses = new Map<string, number>();
  for (const schema of schemas.values())
    for (const value of valuesOf(schema)) uses.set(upperSnake(value), (uses.get(upperSnake(value)) ?? 0) + 1);
  return new Map(
    [...schemas].map(([name, schema]) => {
      const values = valuesOf(schema);
      if (values.every((value) => uses.get(upperSnake(value)) === 1)) return [name, schema];
      const names = values.map((value) => upperSnake(`${name}_${value}`));
      return [name, { ...schema, 'x-enum-varnames': names }];
    }),
  );
}
