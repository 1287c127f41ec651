/** POST /api/templates/:templateId/preview: the message of a template, as its reader will see it. */
import { MessagePreview, messagePreviewExample } from '../codecs/message-preview.ts';
import { idOf, Uuid } from '../codecs/scalars.ts';
import { optional, struct } from '../codecs/struct.ts';
import { named } from '../codecs/json-schema.ts';
import { VariableMapping } from '../codecs/variable-mapping.ts';
import { parseTemplate } from '../domain/templates/components.ts';
import { compileRenderer } from '../domain/templates/plan.ts';
import { previewMessage } from '../domain/templates/preview.ts';
import { compileMapping } from '../domain/templates/variable-mapping.ts';
import { getContact } from '../records/contacts/contacts.ts';
import { getTemplate } from '../records/templates/templates.ts';
import { endpoint } from './frame/endpoint.ts';
import { answer, FieldProblems, succeed } from './frame/envelope.ts';

export const previewTemplate = endpoint(
  {
    method: 'POST',
    path: '/api/templates/:templateId/preview',
    operationId: 'previewTemplate',
    summary: 'Preview a template’s message as the recipient will see it',
    description:
      'Fills the mapping from the contact. Without a contact, and for empty fields, the variables stay visible.',
    tag: 'Templates',
    access: 'workspace',
    params: struct({ templateId: idOf('Template') }),
    body: optional({ variable_mapping: VariableMapping, contact_id: Uuid }),
    bodyExample: {
      variable_mapping: { body: { '1': 'firstName' }, default_values: { body: { '1': 'there' } } },
    },
    responses: {
      200: answer(
        'Preview, and the problems of the mapping',
        named('TemplatePreview', struct({ message: MessagePreview, problems: FieldProblems })),
        { message: messagePreviewExample, problems: [] },
      ),
    },
  },
  async ({ dependencies, principal: { workspaceId }, params: { templateId }, body }) => {
    const { database, now } = dependencies;
    const template = await getTemplate(database, workspaceId, templateId);
    const contact =
      body.contact_id === undefined ? {} : await getContact(database, workspaceId, body.contact_id);
    const result = compileMapping(parseTemplate(template.components, template), body.variable_mapping, {
      selectionType: 'all_contacts',
      now: now(),
    });
    if (!result.ok) {
      return {
        status: 200,
        body: succeed({ message: previewMessage(template, []), problems: result.problems }),
      };
    }
    const { plan, resolvers } = result.mapping;
    // Shows a placeholder for an empty value, so that the variable stays visible.
    const values = resolvers.map(({ path, resolve }) => resolve({ contact }) || placeholderOf(path));
    const message = previewMessage(template, compileRenderer(plan)(values));
    return { status: 200, body: succeed({ message, problems: [] }) };
  },
);

const placeholderOf = (path: string): string => `{{${path.split('.').at(-1) ?? ''}}}`;
