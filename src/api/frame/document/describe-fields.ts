/** Adds the descriptions of fields and parameters to the document. */
import type { JsonSchema } from '../../../codecs/json-schema.ts';
import { exampleTemplateId } from '../../../codecs/template.ts';
import { fieldDescriptions } from './field-descriptions.ts';
import { schemaDescriptions } from './schema-descriptions.ts';

/** Descriptions of path and query parameters that differ from those of the fields with the same name. */
const parameterDescriptions: Readonly<Record<string, string>> = {
  assignedTo: 'Only those assigned to this user, team or bot.',
  channel_id: 'Which channel’s wallet; needed with a workspace key where the workspace has several.',
  contactId: 'Only those with this contact.',
  createdBy: 'Only tags created by this user.',
  cursor: 'The `nextCursor` of the page before; absent for the first page.',
  deliveryId: 'The delivery.',
  eventKey: 'Only these events; may be repeated.',
  error_code: 'Only those that failed with these codes; may be repeated.',
  from: 'Only those created at this instant or later.',
  'hub.challenge': 'What is echoed when the token is right.',
  'hub.mode': 'Always `subscribe`.',
  'hub.verify_token': 'The token that was agreed with the provider.',
  interval: 'How long a part is; a minute without it.',
  key: 'The `csv_file_key` that an upload answered.',
  reason: 'Only these reasons; may be repeated.',
  recipientId: 'The recipient.',
  search: 'Only those that match these words; the last one may be the beginning of a word.',
  state: 'Only these states; may be repeated.',
  status: 'Only those of this status; may be repeated where it is a list.',
  to: 'Only those created before this instant.',
};

const meaningOf = (name: string): string | undefined =>
  fieldDescriptions[name] ??
  fieldDescriptions[name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())];

/** The description stands beside the schema, where readers of parameters look. */
export function describedParameter(name: string, schema: JsonSchema): JsonSchema {
  const { description = parameterDescriptions[name] ?? meaningOf(name), ...rest } = schema;
  return {
    ...(description !== undefined && { description }),
    ...(name === 'templateId' && { example: exampleTemplateId }),
    schema: rest,
  };
}

/** A named schema with what it and its properties mean. */
export function described(name: string, schema: JsonSchema): JsonSchema {
  const description = schemaDescriptions[name];
  return { ...(description !== undefined && { description }), ...withDescriptions(name, schema) };
}

/** Description of a field that has one value in every answer. */
function constantOf({ enum: values }: JsonSchema): string | undefined {
  return Array.isArray(values) && values.length === 1 ? `Always \`${values[0]}\`.` : undefined;
}

/** Every property of a named schema, at any depth, with what its name means. */
function withDescriptions(name: string, schema: JsonSchema): JsonSchema {
  const inside = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inside);
    return typeof value === 'object' && value !== null ? withDescriptions(name, value as JsonSchema) : value;
  };
  const entries = Object.entries(schema).map(([key, value]) => {
    if (key !== 'properties') return [key, inside(value)];
    const properties = Object.entries(value as Record<string, JsonSchema>).map(([field, one]) => {
      const description = schemaDescriptions[`${name}.${field}`] ?? constantOf(one) ?? meaningOf(field);
      return [field, { ...(description !== undefined && { description }), ...withDescriptions(name, one) }];
    });
    return [key, Object.fromEntries(properties)];
  });
  return Object.fromEntries(entries) as JsonSchema;
}
