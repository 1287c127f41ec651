/** Adds the descriptions of fields and parameters to the document. */
import type { JsonSchema } from '../../../codecs/json-schema.ts';
import { exampleTemplateId } from '../../../codecs/template.ts';
import { fieldDescriptions } from './field-descriptions.ts';
import { schemaDescriptions } from './schema-descriptions.ts';

/** Descriptions of query parameters; those of path parameters are derived from the path. */
const parameterDescriptions: Readonly<Record<string, string>> = {
  assignedTo: 'Only {nouns} assigned to the user, team or bot with this id.',
  channel_id: 'Id of the channel; required with a workspace key if the workspace has several.',
  contactId: 'Only {nouns} with the contact of this id.',
  createdBy: 'Only tags created by the user with this id.',
  cursor: '`nextCursor` of the previous page of {nouns}; omit it for the first page.',
  eventKey: 'Only {nouns} of these events.',
  error_code: 'Only {nouns} that failed with these codes.',
  from: 'Only {nouns} created at this time or later.',
  'hub.challenge': 'Text to return if the token is right.',
  'hub.mode': 'Always `subscribe`.',
  'hub.verify_token': 'Token agreed with the provider.',
  key: '`csv_file_key` of the upload.',
  limit: 'Most {nouns} in one page, 1 to {maximum}; default {default}.',
  page: 'Page of the list of {nouns}, from 1 (default); `page` × `limit` is at most 100,000.',
  reason: 'Only {nouns} with these reasons.',
  search: 'Only {nouns} whose name has all of these words; the last one may be incomplete.',
  state: 'Only {nouns} in these states.',
  status: 'Only {nouns} with this status.',
  template_id: 'Only {nouns} that use the template with this id.',
  to: 'Only {nouns} created before this time.',
};

const meaningOf = (name: string): string | undefined =>
  fieldDescriptions[name] ??
  fieldDescriptions[name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())];

const fill = (text: string | undefined, noun: string): string | undefined =>
  text?.replaceAll('{nouns}', pluralOf(noun)).replaceAll('{noun}', noun);

const numberText = (value: unknown): string => Number(value).toLocaleString('en');

/** Moves a parameter's description out of its schema, where readers expect it. `noun`: what the operation returns. */
export function describedParameter(name: string, schema: JsonSchema, noun: string): JsonSchema {
  const { description = parameterDescriptions[name] ?? meaningOf(name), ...rest } = schema;
  const text = fill(description as string | undefined, noun)
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
    ...withDescriptions(name, schema, nounOf(name, schema)),
  };
}

/** Description of a field that has one value in every answer. */
function constantOf({ enum: values }: JsonSchema): string | undefined {
  return Array.isArray(values) && values.length === 1 ? `Always \`${values[0]}\`.` : undefined;
}

/** Description of the `data` of an envelope. */
function dataOf({ $ref, items }: JsonSchema, noun: string): string | undefined {
  if (items !== undefined) return `List of ${pluralOf(noun)}.`;
  if (noun.endsWith(' event')) return `What happened, for the ${noun}.`;
  return $ref === undefined ? undefined : `Returned ${noun}.`;
}

/** Adds a description to every property of a named schema, at any depth, by its name. */
function withDescriptions(name: string, schema: JsonSchema, noun: string): JsonSchema {
  const inside = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inside);
    return typeof value === 'object' && value !== null
      ? withDescriptions(name, value as JsonSchema, noun)
      : value;
  };
  const entries = Object.entries(schema).map(([key, value]) => {
    if (key !== 'properties') return [key, inside(value)];
    const properties = Object.entries(value as Record<string, JsonSchema>).map(([field, one]) => {
      const description =
        schemaDescriptions[`${name}.${field}`] ??
        constantOf(one) ??
        (field === 'data' ? dataOf(one, noun) : fill(meaningOf(field), noun));
      // A schema with a description of its own keeps it wherever it is used.
      const own = one['$ref'] === '#/components/schemas/SuccessStatus';
      return [
        field,
        { ...(description !== undefined && !own && { description }), ...withDescriptions(name, one, noun) },
      ];
    });
    return [key, Object.fromEntries(properties)];
  });
  return Object.fromEntries(entries) as JsonSchema;
}

// Nouns for schemas and paths.

/** Names that the rule below would turn into the wrong words. */
const irregular: Readonly<Record<string, string>> = {
  Actor: 'user',
  ActorInput: 'user',
  AssignConversation: 'conversation',
  AssigneeInput: 'assignee',
  CampaignTemplate: 'template',
  CarouselCard: 'card',
  ChangeConversationStatus: 'conversation',
  ChangedTemplate: 'template',
  CheckCampaign: 'new campaign',
  Consent: 'opt-out or opt-in',
  ContactExport: 'exported contact',
  ConversationAssignedData: 'conversation',
  ConversationStatusChangedData: 'conversation',
  CountSegment: 'count',
  CsvFile: 'uploaded file',
  CsvPreview: 'CSV preview',
  CsvPreviewRow: 'row',
  CsvSkippedRow: 'skipped row',
  CustomFieldValue: 'custom field',
  HistoryCampaign: 'campaign',
  HistoryItem: 'message',
  HistoryTemplate: 'template',
  InitialCampaign: 'new campaign',
  IncomingData: 'inbound message',
  Media: 'uploaded file',
  MessagePricing: 'message',
  MessageStatusData: 'message',
  NoticeSubject: 'notice’s subject',
  OverviewCampaign: 'campaign',
  OverviewPoint: 'interval',
  OverviewTotals: 'whole period',
  PayloadSkeleton: 'message',
  ProviderEntry: 'business account',
  RecipientDetail: 'recipient',
  SendToPhoneNumber: 'message',
  SendToUserId: 'message',
  SentMessage: 'sent message',
  SkeletonMapping: 'skeleton',
  TestCampaign: 'test message',
  TestWebhook: 'test delivery',
  TimelinePart: 'interval',
  VariableDefaults: 'defaults',
  VariableMapping: 'mapping',
};

/** `CampaignDetail` → "campaign", `CreateTag` → "new tag", an event → "`sent` event". */
export function nounOf(name: string, schema: JsonSchema): string {
  const { eventKey, data } = (schema['properties'] ?? {}) as Record<string, JsonSchema | undefined>;
  const [key] = (eventKey?.['enum'] ?? []) as readonly string[];
  if (key !== undefined) return `\`${key}\` event`;
  const record = (data?.['items'] as JsonSchema | undefined)?.['$ref'] ?? data?.['$ref'];
  if (typeof record === 'string') return nounOf(record.slice(record.lastIndexOf('/') + 1), {});
  return (
    irregular[name] ??
    words(name.replace(/^(Update|Put|Recharge)|(Detail|Data|Summary|Progress)$/g, '')).replace(
      /^create(d)? /,
      'new ',
    )
  );
}

const words = (name: string): string => name.replaceAll(/\B[A-Z]/g, ' $&').toLowerCase();

/** Plurals that the rule below would get wrong. */
const irregularPlurals: Readonly<Record<string, string>> = { 'opt-out or opt-in': 'opt-outs and opt-ins' };

const pluralOf = (noun: string): string => irregularPlurals[noun] ?? `${noun.replace(/y$/, 'ie')}s`;

const verbs: Readonly<Record<string, string>> = { get: 'read', update: 'change' };

/** Description of an id in a path: `/api/campaigns/:id/recipients` → "Id of the campaign whose recipients to list." */
export function idInPath(path: string, parameter: string, operationId: string): string {
  const known: string[] = [];
  for (const [, segment = '', name] of path.matchAll(/\/([\w-]+)\/:(\w+)/g)) {
    known.push(segment.replace('external-', '').replace(/ies$/, 'y').replace(/s$/, ''));
    if (name === parameter) break;
  }
  const [verb = '', ...others] = words(operationId).split(' ');
  const part = others.filter((word) => !known.includes(word)).join(' ');
  return `Id of the ${known.at(-1)}${part === '' ? '' : ` whose ${part}`} to ${verbs[verb] ?? verb}.`;
}
