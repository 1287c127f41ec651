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
    summary: 'Show the message of a template as its reader will see it',
    description:
      'Fields of the mapping are filled from the contact; without one, and where it has nothing, the variables stay as they stand in the template.',
    tag: 'Templates',
    access: 'workspace',
    params: struct({ templateId: idOf('Template') }),
    body: optional({ variable_mapping: VariableMapping, contact_id: Uuid }),
    bodyExample: {
      variable_mapping: { body: { '1': 'firstName' }, default_values: { body: { '1': 'there' } } },
    },
    responses: {
      200: answer(
        'The message, and why the template does not take the mapping where it does not',
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
    // An empty value would hide that there is a variable.
    const values = resolvers.map(({ path, resolve }) => resolve({ contact }) || placeholderOf(path));
    const message = previewMessage(template, compileRenderer(plan)(values));
    return { status: 200, body: succeed({ message, problems: [] }) };
  },
);

const placeholderOf = (path: string): string => `{{${path.split('.').at(-1) ?? ''}}}`;
