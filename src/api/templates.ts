import * as t from 'io-ts';
import { describe, named } from '../codecs/json-schema.ts';
import { MessagePreview, messagePreviewExample } from '../codecs/message.ts';
import { idOf, Integer, limitUpTo, Page, repeated, textOf, Uuid } from '../codecs/scalars.ts';
import { optional, struct } from '../codecs/struct.ts';
import {
  exampleTemplateId,
  PayloadSkeleton,
  Template,
  TemplateSyncSummary,
  TemplateVariables,
} from '../codecs/template.ts';
import { VariableMapping } from '../codecs/variable-mapping.ts';
import { uploadMedia } from '../commands/messages/upload-media.ts';
import { maxMediaBytes } from '../domain/templates/media.ts';
import * as commands from '../commands/templates/sync-templates.ts';
import type { Dependencies } from '../dependencies.ts';
import { channelNeeded } from '../domain/error.ts';
import { parseTemplate } from '../domain/templates/components.ts';
import { payloadSkeleton } from '../domain/templates/payload-skeleton.ts';
import { compileRenderer } from '../domain/templates/plan.ts';
import { previewMessage } from '../domain/templates/preview.ts';
import { compileMapping } from '../domain/templates/variable-mapping.ts';
import { templateVariables } from '../domain/templates/variables.ts';
import type { Principal } from '../domain/workspaces/api-key.ts';
import { getContact } from '../records/contacts/contacts.ts';
import * as records from '../records/templates/templates.ts';
import { getChannelState } from '../records/workspaces/channel-states.ts';
import { endpoint } from './frame/endpoint.ts';
import {
  acknowledge,
  acknowledgement,
  answer,
  answerWith,
  ErrorEnvelope,
  FieldProblems,
  onePage,
  page,
  record,
  succeed,
  succeedWith,
} from './frame/envelope.ts';

const tag = 'Templates';
const params = struct({ templateId: idOf('Template', 'template_not_found') });

const templateExample = {
  id: exampleTemplateId,
  businessAccountId: '102290129340398',
  name: 'hello_campaign',
  language: 'en_US',
  category: 'MARKETING',
  status: 'APPROVED',
  providerTemplateId: '1387372356726668',
  quality: 'GREEN',
  upcomingCategory: null,
  upcomingCategoryAt: null,
  components: [{ type: 'BODY', text: 'Hello {{1}}, our autumn collection is here!' }],
  rejectedReason: null,
  source: null,
  sendTtlSeconds: null,
  updatedAt: '2026-11-21T09:00:00.000Z',
};

export const listTemplates = endpoint(
  {
    method: 'GET',
    path: '/api/templates',
    operationId: 'listTemplates',
    summary: 'List the templates of the workspace',
    tag,
    access: 'workspace',
    query: optional({
      page: Page,
      limit: limitUpTo(100),
      search: textOf({ max: 512 }),
      status: repeated(textOf({ max: 64 })),
      category: describe(textOf({ max: 64 }), {
        description: 'Only templates of this category, such as MARKETING or UTILITY.',
      }),
      language: describe(textOf({ max: 64 }), {
        description: 'Only templates in this language, such as `en_US`.',
      }),
      business_account_id: describe(textOf({ max: 64 }), {
        description: 'Only templates of this business account; default that of a channel key’s own number.',
      }),
    }),
    responses: { 200: onePage('One page of templates, by name and language', Template, templateExample) },
  },
  async ({ dependencies, principal, query }) => {
    const requested = { page: query.page ?? 1, limit: query.limit ?? 10 };
    const { items, total } = await records.listTemplates(dependencies.database, principal.workspaceId, {
      ...requested,
      statuses: query.status ?? [],
      search: query.search ?? '',
      category: query.category,
      language: query.language,
      businessAccountId: query.business_account_id ?? (await ownAccount(dependencies.database, principal)),
    });
    return { status: 200, body: page(items, { ...requested, total }) };
  },
);

/** The business account of a channel key's channel; undefined for a key of the whole workspace. */
const ownAccount = async (
  database: Dependencies['database'],
  { workspaceId, channelId }: Principal,
): Promise<string | undefined> =>
  channelId === null
    ? undefined
    : (await getChannelState(database, workspaceId, channelId)).business_account_id;

export const getTemplate = endpoint(
  {
    method: 'GET',
    path: '/api/templates/:templateId',
    operationId: 'getTemplate',
    summary: 'Read a template',
    tag,
    access: 'workspace',
    params,
    responses: { 200: answer('Template in any status', Template, templateExample) },
  },
  async ({ dependencies, principal, params: path }) => {
    const template = await records.getTemplate(dependencies.database, principal.workspaceId, path.templateId);
    return { status: 200, body: succeed(template) };
  },
);

export const syncTemplates = endpoint(
  {
    method: 'POST',
    path: '/api/templates/sync',
    operationId: 'syncTemplates',
    summary: 'Synchronise the templates with the provider',
    description:
      'This also happens every hour without a request. A template that the provider no longer lists gets the status DELETED.',
    tag,
    access: 'workspace',
    responses: {
      200: answerWith('Synchronised', 'Templates synced', TemplateSyncSummary, {
        synced: 12,
        added: 1,
        changed: 2,
      }),
    },
    errors: [400, 502],
  },
  async ({ dependencies, principal }) => {
    const summary = await commands.syncTemplates(dependencies, principal.workspaceId);
    return { status: 200, body: succeedWith('Templates synced', summary) };
  },
);

const unpaused = 'Template unpaused successfully';

export const unpauseTemplate = endpoint(
  {
    method: 'POST',
    path: '/api/templates/:templateId/unpause',
    operationId: 'unpauseTemplate',
    summary: 'Lift the provider’s pause of a template',
    description:
      'The provider pauses a template whose messages many people reject, and wants some of these pauses lifted by hand. Its status here follows with the next synchronisation, which begins at once.',
    tag,
    access: 'workspace',
    params,
    responses: {
      200: acknowledgement('The provider has lifted the pause', unpaused),
      502: {
        description: 'The provider refused, cannot be reached, or did not answer in time',
        body: ErrorEnvelope,
      },
    },
    errors: [409],
  },
  async ({ dependencies, principal, params: path }) => {
    await commands.unpauseTemplate(dependencies, principal.workspaceId, path.templateId);
    return { status: 200, body: acknowledge(unpaused) };
  },
);

export const getTemplateVariables = endpoint(
  {
    method: 'GET',
    path: '/api/templates/:templateId/variables',
    operationId: 'getTemplateVariables',
    summary: 'List the variables a template requires',
    description: 'Optional values, such as the payload of a quick reply, are not listed.',
    tag,
    access: 'workspace',
    params,
    responses: {
      200: answer('The variables by section', TemplateVariables, {
        header: [],
        body: ['1', '2'],
        buttons: [],
      }),
    },
  },
  async ({ dependencies, principal, params: path }) => {
    const template = await records.getTemplate(dependencies.database, principal.workspaceId, path.templateId);
    return { status: 200, body: succeed(templateVariables(parseTemplate(template.components, template))) };
  },
);

export const getPayloadSkeleton = endpoint(
  {
    method: 'GET',
    path: '/api/templates/:templateId/payload-skeleton',
    operationId: 'getPayloadSkeleton',
    summary: 'Build the body of a single send with placeholder values',
    description:
      'Replace the placeholder values in `data` and send it to `POST /api/templates/external/message/send`.',
    tag,
    access: 'workspace',
    params,
    responses: {
      200: answer('The skeleton', PayloadSkeleton, {
        templateId: exampleTemplateId,
        recipientPhoneNumber: '919876543210',
        countryCode: '+91',
        variableMapping: { header: {}, body: { 1: 'value' }, buttons: [] },
      }),
    },
  },
  async ({ dependencies, principal, params: path }) => {
    const template = await records.getTemplate(dependencies.database, principal.workspaceId, path.templateId);
    const definition = parseTemplate(template.components, template);
    const skeleton = payloadSkeleton(definition, { templateId: template.id, now: dependencies.now() });
    return { status: 200, body: succeed(skeleton) };
  },
);

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
    params: struct({ templateId: idOf('Template', 'template_not_found') }),
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
    const template = await records.getTemplate(database, workspaceId, templateId);
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

// Files for the headers of messages, handed to the provider.

const Media = named('Media', struct({ id: t.string, mime_type: t.string, size: Integer }));

export const uploadMediaFile = endpoint(
  {
    method: 'POST',
    path: '/api/media',
    operationId: 'uploadMedia',
    summary: 'Upload a media file for a header',
    description:
      'Send the file as field `file` of a multipart form: images (JPEG, PNG) up to 5 MiB, videos (MP4, 3GPP) up to 16 MiB, documents (PDF, text, Office) up to 100 MiB, told apart by the part’s Content-Type. The provider keeps it for 30 days. Use the returned `id` in a header instead of `link`.',
    tag: 'Messages',
    access: 'channel',
    body: 'multipart',
    bodySchema: {
      type: 'object',
      required: ['file'],
      properties: { file: { type: 'string', format: 'binary', description: 'The file, up to 100 MiB.' } },
    },
    responses: {
      201: {
        description: 'Uploaded',
        body: record(Media),
        example: {
          status: 'success',
          data: { id: '2871834006348767', mime_type: 'image/png', size: 51234 },
        },
      },
      502: { description: 'The provider cannot be reached, or did not answer in time', body: ErrorEnvelope },
    },
  },
  async ({ dependencies, principal: { workspaceId, channelId }, body }) => {
    if (channelId === null) throw channelNeeded();
    const { id, mimeType, size } = await body({ field: 'file', maxBytes: maxMediaBytes }, (content, type) =>
      uploadMedia(dependencies, { workspaceId, channelId, mimeType: type, content }),
    );
    return { status: 201, body: succeed({ id, mime_type: mimeType, size }) };
  },
);
