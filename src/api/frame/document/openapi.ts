/** The declarations as an OpenAPI 3.1 document: nothing in it is written twice. */
import * as t from 'io-ts';
import {
  named,
  nameOf,
  toJsonSchema,
  type JsonSchema,
  type NamedSchemas,
} from '../../../codecs/json-schema.ts';
import { eventKeys } from '../../../domain/webhooks/event-key.ts';
import { failures, guide, keyDescription } from './guide.ts';
import type { Declaration, Endpoint, ResponseDeclaration } from '../endpoint.ts';
import { codeOfMessage } from '../error-code.ts';
import { ErrorEnvelope } from '../envelope.ts';
import { described, describedParameter } from './describe-fields.ts';
import { eventOperation } from './event-operation.ts';
import { idInPath, nounOf } from './nouns.ts';
import { withEnumNames } from './enum-names.ts';
import { answerHeaders, errorHeaders, headersOf } from './answer-headers.ts';

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
  const { operationId, summary, description, tag, access, responses } = declaration;
  const requestBody = bodyOf(declaration, schemas);
  return {
    operationId,
    summary,
    ...(description !== undefined && { description }),
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
  { operationId, path, params, query, idempotent, responses }: Declaration,
  schemas: NamedSchemas,
): readonly JsonSchema[] {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');
  const inPath = fieldsOf(params, schemas);
  if (names.toSorted().join() !== Object.keys(inPath.properties).toSorted().join()) {
    throw new Error(`${path}: the path and its params disagree`);
  }
  const inQuery = fieldsOf(query, schemas);
  const { body } = responses[200] ?? {};
  const found: NamedSchemas = new Map();
  if (body !== undefined) toJsonSchema(body, found);
  const envelope = (body && nameOf(body)) ?? '';
  const noun = nounOf(envelope, found.get(envelope) ?? {});
  return [
    ...names.map((name) => {
      const description = idInPath(path, name, operationId);
      const schema = { description, ...inPath.properties[name] };
      return { name, in: 'path', required: true, ...describedParameter(name, schema, noun) };
    }),
    ...Object.entries(inQuery.properties).map(([name, schema]) => ({
      name,
      in: 'query',
      required: inQuery.required.includes(name),
      ...describedParameter(name, schema, noun),
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
  { operationId, body = 'none', bodyIsOptional, bodyExample, bodySchema }: Declaration,
  schemas: NamedSchemas,
): JsonSchema | undefined {
  if (body === 'none') return undefined;
  if (body === 'multipart')
    return { required: true, content: { 'multipart/form-data': { schema: bodySchema } } };
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

function errorResponse(code: number, { description, ...envelope }: (typeof failures)[number]): JsonSchema {
  const headers = errorHeaders[code];
  const example = {
    status: 'error',
    code,
    error_code: codeOfMessage(envelope.message, code),
    ...envelope,
    timestamp: '2026-11-21T09:00:00.000Z',
  };
  return {
    description,
    ...(headers !== undefined && { headers }),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/ApiError' }, example } },
  };
}
