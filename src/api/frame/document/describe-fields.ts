/** Adds the descriptions of fields and parameters to the document. */
import type { JsonSchema } from '../../../codecs/json-schema.ts';
import { exampleTemplateId } from '../../../codecs/template.ts';
import { fieldDescriptions } from './field-descriptions.ts';
import { schemaDescriptions } from './schema-descriptions.ts';

/** Descriptions of query parameters; those of path parameters are derived from the path. */
const parameterDescriptions: Readonly<Record<string, string>> = {
  assignedTo: 'Only those assigned to the user, team or bot with this id.',
  channel_id: 'Id of the channel; required with a workspace key if the workspace has several.',
  contactId: 'Only those of the contact with this id.',
  createdBy: 'Only tags created by the user with this id.',
  cursor: '`nextCursor` of the previous page; omit it for the first page.',
  eventKey: 'Only those of these events.',
  error_code: 'Only those that failed with these codes.',
  from: 'Only those created at this time or later.',
  'hub.challenge': 'Text to return if the token is right.',
  'hub.mode': 'Always `subscribe`.',
  'hub.verify_token': 'Token agreed with the provider.',
  key: '`csv_file_key` of the upload.',
  limit: 'Length of a page, 1 to {maximum}; default {default}.',
  page: 'Page of the list, from 1 (default); `page` × `limit` is at most 100,000.',
  reason: 'Only those with these reasons.',
  search: 'Only those whose name has all of these words; the last one may be incomplete.',
  state: 'Only those in these states.',
  status: 'Only those with this status.',
  template_id: 'Only those that use the template with this id.',
  to: 'Only those created before this time.',
};

const meaningOf = (name: string): string | undefined =>
  fieldDescriptions[name] ??
  fieldDescriptions[name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())];

const numberText = (value: unknown): string => Number(value).toLocaleString('en');

/** Moves a parameter's description out of its schema, where readers expect it. */
export function describedParameter(name: string, schema: JsonSchema): JsonSchema {
  const { description = parameterDescriptions[name] ?? meaningOf(name), ...rest } = schema;
  const text = (description as string | undefined)
    ?.replace('{maximum}', numberText(rest['maximum']))
    .replace('{default}', numberText(rest['default']));
  return {
    ...(text !== undefined && {
      description: rest['type'] === 'array' ? `${text} Repeat it for several.` : text,
    }),
    ...(name === 'templateId' && { example: exampleTemplateId }),
    schema: rest,
  };
}

/** Adds descriptions to a named schema and its properties. */
export function described(name: string, schema: JsonSchema): JsonSchema {
  const description = schemaDescriptions[name];
  return {
    ...(description !== undefined && { description }),
    ...withDescriptions(name, schema),
  };
}

/** Description of a field that has one value in every answer. */
function constantOf({ enum: values }: JsonSchema): string | undefined {
  return Array.isArray(values) && values.length === 1 ? `Always \`${values[0]}\`.` : undefined;
}

/** Description of the `data` of the envelope `name`. */
function dataOf(name: string, { items }: JsonSchema): string {
  if (items !== undefined) return 'This page of the list.';
  return name.endsWith('Event') ? 'What happened.' : 'Result of the request.';
}

/** Adds a description to every property of a named schema, at any depth, by its name. */
function withDescriptions(name: string, schema: JsonSchema): JsonSchema {
  const inside = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inside);
    return typeof value === 'object' && value !== null ? withDescriptions(name, value as JsonSchema) : value;
  };
  const entries = Object.entries(schema).map(([key, value]) => {
    if (key !== 'properties') return [key, inside(value)];
    const properties = Object.entries(value as Record<string, JsonSchema>).map(([field, one]) => {
      const description =
        schemaDescriptions[`${name}.${field}`] ??
        constantOf(one) ??
        (field === 'data' ? dataOf(name, one) : meaningOf(field));
      // A schema that has a description keeps it wherever it is used.
      const own = one['$ref'] === '#/components/schemas/SuccessStatus';
      return [
        field,
        { ...(description !== undefined && !own && { description }), ...withDescriptions(name, one) },
      ];
    });
    return [key, Object.fromEntries(properties)];
  });
  return Object.fromEntries(entries) as JsonSchema;
}

/** Description of an id in a path: `/api/campaigns/:id/recipients` → "Id of the campaign." */
export function idInPath(path: string, parameter: string): string {
  const parts = path.split('/');
  const segment = parts[parts.indexOf(`:${parameter}`) - 1] ?? '';
  return `Id of the ${segment.replace('external-', '').replace(/ies$/, 'y').replace(/s$/, '')}.`;
}
