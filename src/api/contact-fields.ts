/** The custom fields of the workspace's contacts. */
import * as t from 'io-ts';
import { describe, named } from '../codecs/json-schema.ts';
import { Integer, textOf } from '../codecs/scalars.ts';
import { oneOf, struct } from '../codecs/struct.ts';
import { listContactFields as listFields, mostExamples } from '../commands/contacts/contact-fields.ts';
import { fieldTypes } from '../domain/contacts/field-type.ts';
import { sampleFields, setFieldType } from '../records/contacts/contact-fields.ts';
import { endpoint } from './frame/endpoint.ts';
import { answer, answerWith, succeed, succeedWith } from './frame/envelope.ts';

const tag = 'Contacts';

const Type = describe(oneOf(fieldTypes, 'ContactFieldType'), {
  description: 'How conditions compare the values; guessed when the field is first seen.',
});

const ContactField = named(
  'ContactField',
  struct({
    id: describe(t.string, {
      description: 'Name of the field; `custom.` and this name in conditions and mappings.',
    }),
    type: Type,
    examples: describe(t.readonlyArray(t.string), {
      description: `Up to ${mostExamples} values of the newest contacts, each cut at 100 characters.`,
    }),
    count: describe(Integer, {
      description:
        'Contacts that have the field. If the workspace has more than 20,000 contacts, as it was at most an hour ago.',
    }),
  }),
);

const example = { id: 'turnover', type: 'number', examples: ['5000', '812.5'], count: 1_204 };
const saved = 'Contact field saved successfully';

export const listContactFields = endpoint(
  {
    method: 'GET',
    path: '/api/contact-fields',
    operationId: 'listContactFields',
    summary: 'List the custom fields of the contacts, with their types',
    description: 'In the order of their names.',
    tag,
    access: 'workspace',
    responses: { 200: answer('The fields', t.readonlyArray(ContactField), [example]) },
  },
  async ({ dependencies, principal: { workspaceId } }) => ({
    status: 200,
    body: succeed(await listFields(dependencies, workspaceId)),
  }),
);

export const updateContactField = endpoint(
  {
    method: 'PATCH',
    path: '/api/contact-fields/:id',
    operationId: 'updateContactField',
    summary: 'Change the type of a custom field',
    description:
      'Conditions compare by the new type from then on. The values stay as they are: one that does not fit the type equals nothing and is neither more nor less than anything. Numbers may have a decimal comma or thousands separators, dates are ISO 8601 or such as 31.12.2026, and `yes`, `no` and their translations are booleans.',
    tag,
    access: 'workspace',
    params: struct({ id: textOf({ min: 1, max: 255 }) }),
    body: named('UpdateContactField', struct({ type: Type })),
    bodyExample: { type: 'number' },
    responses: { 200: answerWith('Field after the change', saved, ContactField, example) },
    errors: [404],
  },
  async ({
    dependencies: { database, searchDatabase },
    principal: { workspaceId },
    params: { id },
    body,
  }) => {
    const field = await setFieldType(database, workspaceId, { id, type: body.type });
    const samples = await sampleFields(searchDatabase, workspaceId);
    const examples = (samples.get(id) ?? []).slice(0, mostExamples);
    return { status: 200, body: succeedWith(saved, { ...field, examples }) };
  },
);
