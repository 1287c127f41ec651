import { readFile } from 'node:fs/promises';
import { isRight } from 'fp-ts/lib/Either.js';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import { fieldDescriptions } from '../../../src/api/frame/document/field-descriptions.ts';
import { schemaDescriptions } from '../../../src/api/frame/document/schema-descriptions.ts';
import { eventPage } from '../../../src/api/frame/document/error-page.ts';
import { openApiDocument } from '../../../src/api/frame/document/openapi.ts';
import { routes } from '../../../src/api/routes.ts';
import { createContract, escape } from '../../support/contract.ts';

const document = openApiDocument(routes);
const contract = createContract(routes);
const documented = routes.map(({ declaration }) => declaration).filter(({ undocumented }) => !undocumented);

it('is what docs/openapi.json holds; `npm run openapi` writes it anew', async () => {
  const written: unknown = JSON.parse(await readFile('docs/openapi.json', 'utf8'));
  expect(written).toEqual(JSON.parse(JSON.stringify(document)));
});

it('examples/events.md holds every event; run `npm run openapi`', async () => {
  expect(await readFile('examples/events.md', 'utf8')).toBe(eventPage());
});

it('passes the linter', async () => {
  const config = await createConfig({
    extends: ['recommended'],
    rules: {
      // Probes, scrapes and pages have no error caused by the caller.
      'operation-4xx-response': 'off',
      // A literal segment wins over a parameter: /api/campaigns/csv-files/{key} is no /api/campaigns/{id}/start.
      'no-ambiguous-paths': 'off',
    },
  });
  const problems = await lintFromString({
    source: JSON.stringify(document),
    absoluteRef: 'openapi.json',
    config,
  });
  const found = problems.map(
    ({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`,
  );
  expect(found).toEqual([]);
});

it('has version 1.0.0 and every mounted route', () => {
  const paths = document['paths'] as Record<string, Record<string, unknown>>;
  expect((document['info'] as Record<string, unknown>)['version']).toBe('1.0.0');
  const mounted = documented.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
  const described = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(described.toSorted()).toEqual(mounted.toSorted());
});

it('documents 404 on every route with an id and 401 wherever a key is asked for', () => {
  const paths = document['paths'] as Record<string, Record<string, { responses: Record<string, unknown> }>>;
  for (const { method, path, access } of documented) {
    const { responses } = paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()] ?? {
      responses: {},
    };
    const statuses = Object.keys(responses);
    if (path.includes(':')) expect.soft(statuses, `${method} ${path}`).toContain('404');
    if (access !== 'public') expect.soft(statuses, `${method} ${path}`).toContain('401');
  }
});

describe('an example', () => {
  const requests = documented.flatMap(({ operationId, body, bodyExample }) =>
    typeof body === 'object' ? [{ operationId, body, bodyExample }] : [],
  );
  it.each(requests)('of the body of $operationId decodes', ({ body, bodyExample }) => {
    expect(bodyExample).toBeDefined();
    expect(isRight(body.decode(bodyExample))).toBe(true);
  });

  const answers = documented.flatMap(({ operationId, method, path, responses }) =>
    Object.entries(responses)
      .filter(([status, { body }]) => body !== undefined && Number(status) < 400)
      .map(([status, { example }]) => ({ operationId, method, path, status, example })),
  );
  it.each(answers)(
    'of answer $status of $operationId fits its schema',
    ({ method, path, status, example }) => {
      expect(example).toBeDefined();
      const template = escape(path.replaceAll(/:(\w+)/g, '{$1}'));
      const validate = contract.schemaAt(
        `/paths/${template}/${method.toLowerCase()}/responses/${status}/content/application~1json/schema`,
      );
      expect(validate(example), JSON.stringify(validate.errors)).toBe(true);
    },
  );
});

it('describes every property and every parameter', () => {
  const silent: string[] = [];
  const walk = (place: string, node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (key === 'example' || key === 'examples') continue;
      if (key === 'properties') {
        for (const [name, property] of Object.entries(value as Record<string, object>)) {
          const ofItself = '$ref' in property && String(property.$ref).endsWith('/SuccessStatus');
          if (!('description' in property) && !ofItself) silent.push(`${place}.${name}`);
        }
      }
      if (key === 'parameters') {
        for (const parameter of value as readonly { readonly name: string }[]) {
          if (!('description' in parameter)) silent.push(`${place} ${parameter.name}`);
        }
      }
      walk(key === 'properties' ? place : `${place}/${key}`, value);
    }
  };
  walk('', document['components']);
  walk('', document['paths']);
  expect(silent, 'src/api/frame/document/field-descriptions.ts holds the words').toEqual([]);
});

it('mentions null in the descriptions of exactly the fields that can be null', () => {
  type Schema = {
    readonly $ref?: string;
    readonly type?: unknown;
    readonly anyOf?: readonly Schema[];
    readonly oneOf?: readonly Schema[];
    readonly properties?: Readonly<Record<string, Schema>>;
    readonly items?: Schema;
    readonly description?: string;
  };
  const { schemas } = document['components'] as { readonly schemas: Readonly<Record<string, Schema>> };
  const isNullable = ({ $ref, type, anyOf = [], oneOf = [] }: Schema): boolean =>
    $ref === undefined
      ? [type].flat().includes('null') || [...anyOf, ...oneOf].some(isNullable)
      : isNullable(schemas[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {});
  const wrong: string[] = [];
  const walk = (name: string, { properties = {}, items }: Schema): void => {
    for (const [field, schema] of Object.entries(properties)) {
      // Schemas without a type take anything, null included, and may say what null means.
      const isTyped = '$ref' in schema || 'type' in schema || 'anyOf' in schema || 'oneOf' in schema;
      if (isTyped && /\bnull\b/i.test(schema.description ?? '') !== isNullable(schema))
        wrong.push(`${name}.${field}: ${schema.description}`);
      walk(`${name}.${field}`, schema);
    }
    if (items !== undefined) walk(name, items);
  };
  for (const [name, schema] of Object.entries(schemas)) walk(name, schema);
  expect(wrong).toEqual([]);
});

it('has no unfilled placeholder', () => {
  expect(JSON.stringify(document)).not.toMatch(/\{(nouns?|default|maximum)\}|undefined|NaN/);
});

it('describes only fields and schemas that exist', () => {
  const { schemas } = document['components'] as {
    readonly schemas: Readonly<Record<string, { readonly properties?: object }>>;
  };
  const text = JSON.stringify(document);
  const unknown = [
    ...Object.keys(schemaDescriptions).filter((name) => {
      const [schema = '', field] = name.split('.');
      return field === undefined ? !(schema in schemas) : !(field in (schemas[schema]?.properties ?? {}));
    }),
    ...Object.keys(fieldDescriptions).filter((name) => {
      const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      return !text.includes(`"${name}":`) && !text.includes(`"${snake}":`) && !text.includes(`"${name}"`);
    }),
  ];
  expect(unknown).toEqual([]);
});

it('gives every object schema a name, so that generated clients have one for it', () => {
  const inline: string[] = [];
  const walk = (place: string, node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('properties' in node) inline.push(place);
    for (const [key, value] of Object.entries(node))
      if (!key.startsWith('example')) walk(`${place}/${key}`, value);
  };
  const { components, paths } = document as unknown as Record<string, { schemas: Record<string, object> }>;
  for (const [name, schema] of Object.entries(components?.schemas ?? {})) {
    for (const [key, value] of Object.entries(schema)) walk(`${name}/${key}`, value);
  }
  walk('', paths);
  expect(inline).toEqual([
    'ButtonValue/then',
    'HeaderValues/properties/product',
    // Unknown fields of a price are passed through, which takes several schemas.
    'MessagePricing/allOf/0',
    'MessagePricing/allOf/1',
    '//api/campaigns/csv-files/post/requestBody/content/multipart/form-data/schema',
    '//api/media/post/requestBody/content/multipart/form-data/schema',
    '//api/contacts/imports/post/requestBody/content/multipart/form-data/schema',
    '//api/prices/post/requestBody/content/multipart/form-data/schema',
  ]);
});

it('names the headers of the answers of an operation that takes an Idempotency-Key', () => {
  const paths = document['paths'] as Record<string, Record<string, Record<string, unknown>>>;
  const responses = paths['/api/campaigns/auto-trigger']?.['post']?.['responses'] as Record<
    string,
    { readonly headers?: Record<string, unknown> }
  >;
  expect(Object.keys(responses['201']?.headers ?? {})).toEqual([
    'X-Request-Id',
    'RateLimit-Limit',
    'RateLimit-Remaining',
    'RateLimit-Reset',
    'RateLimit-Policy',
    'Idempotent-Replayed',
  ]);
});
