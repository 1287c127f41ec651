/** Nouns for the schemas and paths of the API document. */
import type { JsonSchema } from '../../../codecs/json-schema.ts';

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

export const pluralOf = (noun: string): string => irregularPlurals[noun] ?? `${noun.replace(/y$/, 'ie')}s`;

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
