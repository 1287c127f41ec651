/** `/postman.json`: the document as a Postman collection (format 2.1) with the examples as bodies. */
import type { JsonSchema } from '../../../codecs/json-schema.ts';
import { operationsByTag, type Operation } from './operations-by-tag.ts';
import type { OpenApiDocument } from './openapi.ts';

export function postmanCollection(document: OpenApiDocument): JsonSchema {
  const { title } = document['info'] as { readonly title: string };
  return {
    info: {
      name: title,
      description: 'Set the variables `baseUrl` and `apiKey`.',
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: {
      type: 'apikey',
      apikey: [
        { key: 'key', value: 'X-API-Key' },
        { key: 'value', value: '{{apiKey}}' },
        { key: 'in', value: 'header' },
      ],
    },
    variable: [
      { key: 'baseUrl', value: 'http://127.0.0.1:3000' },
      { key: 'apiKey', value: '' },
    ],
    item: [...operationsByTag(document)]
      .filter(([name]) => name !== 'Provider')
      .map(([name, list]) => ({
        name,
        item: list.map((one) => ({ name: one.summary, request: requestOf(one) })),
      })),
  };
}

function requestOf({ method, path, description, parameters, content }: Operation): JsonSchema {
  const of = (place: string) => parameters.filter((one) => one['in'] === place);
  const parts = path
    .slice(1)
    .replaceAll(/\{(\w+)\}/g, ':$1')
    .split('/');
  const described = (one: JsonSchema, value: string) => ({
    key: one['name'],
    value,
    description: one['description'],
  });
  const query = of('query').map((one) => ({ ...described(one, ''), disabled: one['required'] !== true }));
  const idempotency = of('header').map((one) => described(one, '{{$guid}}'));
  const json = content['application/json'];
  return {
    method,
    ...(description !== undefined && { description }),
    header: [...(json ? [{ key: 'Content-Type', value: 'application/json' }] : []), ...idempotency],
    url: {
      raw: `{{baseUrl}}/${parts.join('/')}`,
      host: ['{{baseUrl}}'],
      path: parts,
      query,
      variable: of('path').map((one) => described(one, (one['example'] as string | undefined) ?? '')),
    },
    ...bodyOf(json, 'multipart/form-data' in content),
  };
}

function bodyOf(json: JsonSchema | undefined, isForm: boolean): JsonSchema {
  if (isForm) return { body: { mode: 'formdata', formdata: [{ key: 'file', type: 'file' }] } };
  if (json === undefined) return {};
  return { body: { mode: 'raw', raw: JSON.stringify(json['example'] ?? {}, null, 2) } };
}
