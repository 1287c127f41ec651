/** Creating a campaign (Spec 4.1): everything the request holds is checked at once, then one transaction writes it. */
import { campaignFileKey } from '../audience/campaign-file-url.ts';
import type { CreateCampaign } from '../codecs/create-campaign.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Principal } from '../domain/api-key.ts';
import { initialStatus } from '../domain/campaign.ts';
import { columnProblems, csvKeys } from '../domain/csv-audience.ts';
import { FeatureUnavailable, Invalid, type FieldProblem } from '../domain/error.ts';
import { quotaMonth } from '../domain/feature.ts';
import { parseQuickContact } from '../domain/quick-contact.ts';
import { parseTemplate } from '../domain/template-components.ts';
import { isSendable } from '../domain/template-definition.ts';
import { templateVariables } from '../domain/template-variables.ts';
import { compileMapping } from '../domain/variable-mapping.ts';
import { targetUrlMessage } from '../outbound/address-guard.ts';
import { findCampaignFile } from '../records/campaign-files.ts';
import { insertCampaignInput } from '../records/campaign-inputs.ts';
import { findMissingSegments } from '../records/campaign-references.ts';
import { findCampaign, insertCampaign, type Campaign, type NewCampaign } from '../records/campaigns.ts';
import { getChannel, type Channel } from '../records/channels.ts';
import type { Connection } from '../records/database.ts';
import { countBroadcastsUsed, getFeatures } from '../records/features.ts';
import { getTemplateOfBusinessAccount, type Template } from '../records/templates.ts';
import { findPrices, getWallet } from '../records/wallets.ts';
import { insertWorkflowCommand } from '../records/workflow-commands.ts';
import { audienceProblems, scheduleOf } from './check-campaign-input.ts';

type Creator = Pick<Dependencies, 'config' | 'database' | 'now' | 'outbound'>;

/** A campaign that has passed every check, ready to be written. */
export interface CheckedCampaign {
  readonly campaign: NewCampaign;
  /** The large part of the audience input. */
  readonly input: string | undefined;
  readonly canSendTest: boolean;
}

/** Throws Invalid, FeatureUnavailable or NotFound; the first failing rule gives the message. */
export async function checkCampaign(
  dependencies: Creator,
  principal: Principal,
  body: CreateCampaign,
): Promise<CheckedCampaign> {
  const { database } = dependencies;
  const { workspaceId, channelId } = principal;
  if (channelId === null) throw new Invalid('Either channel_id or phone_number_id is required');
  const now = dependencies.now();
  const schedule = scheduleOf(body, now);
  refuse([...audienceProblems(body), ...schedule.problems]);

  const channel = await getChannel(database, workspaceId, channelId);
  const template = await getTemplateOfBusinessAccount(database, workspaceId, {
    templateId: body.template_id,
    businessAccountId: channel.businessAccountId,
  });
  if (template.vanishedAt !== null || !isSendable(template.status)) {
    throw Invalid.at('template_id', 'Template is not approved');
  }
  await requireFeatures(database, workspaceId, body, now);
  const reused = await referenceProblems(dependencies, workspaceId, body);
  refuse(reused.problems);
  if (!reused.frozenValues) refuse(mappingProblems(template, body, schedule.at ?? now));

  return {
    campaign: newCampaign(body, { channel, template, scheduledAt: schedule.at, keyId: principal.keyId }),
    input: inputOf(body),
    canSendTest: channel.status === 'active' && (await coversOneMessage(database, channel, template)),
  };
}

/** Inside the transaction; the campaign's workflow is told of it by the command that is written with it. */
export async function writeCampaign(
  transaction: Connection,
  { campaign, input }: CheckedCampaign,
): Promise<Campaign> {
  const created = await insertCampaign(transaction, campaign);
  if (input !== undefined) await insertCampaignInput(transaction, { campaignId: created.id, content: input });
  await insertWorkflowCommand(transaction, { campaignId: created.id, kind: 'start' });
  return created;
}

function refuse(problems: readonly FieldProblem[]): void {
  if (problems.length > 0) throw Invalid.of(problems);
}

/** Spec 4.1 rules 3 to 5. */
async function requireFeatures(
  database: Connection,
  workspaceId: number,
  body: CreateCampaign,
  now: Date,
): Promise<void> {
  const features = await getFeatures(database, workspaceId);
  if (body.send_type === 'SCHEDULED' && !features.scheduleCampaigns) {
    throw new FeatureUnavailable('schedule_campaigns', 'The Schedule Campaigns feature is not available');
  }
  if (body.contact_selection_type === 'segmented' && !features.targetedSegments) {
    throw new FeatureUnavailable('targeted_segments', 'The Targeted Segments feature is not available');
  }
  // A scheduled campaign is counted when it starts, perhaps in another month.
  if (features.broadcastsPerMonth === null || body.send_type === 'SCHEDULED') return;
  const used = await countBroadcastsUsed(database, workspaceId, quotaMonth(now));
  if (used >= features.broadcastsPerMonth) {
    throw new FeatureUnavailable(
      'broadcasts_per_month',
      'The Broadcasts Per Month feature is used up for this month',
    );
  }
}

/** What the request refers to must exist. `frozenValues`: the failed campaign's own values serve again. */
async function referenceProblems(
  { config, database, outbound }: Creator,
  workspaceId: number,
  body: CreateCampaign,
): Promise<{ readonly problems: readonly FieldProblem[]; readonly frozenValues: boolean }> {
  const problems: FieldProblem[] = [];
  let frozenValues = false;
  if (body.contact_selection_type === 'segmented') {
    const missing = await findMissingSegments(database, workspaceId, body.segments ?? []);
    for (const id of missing) {
      const field = `segments.${body.segments?.indexOf(id)}`;
      problems.push({ field, message: `${field} is not a segment of this workspace` });
    }
  }
  if (body.contact_selection_type === 'failed_contacts' && body.failed_campaign_id !== undefined) {
    const failed = await findCampaign(database, workspaceId, body.failed_campaign_id);
    if (failed === undefined) {
      problems.push({
        field: 'failed_campaign_id',
        message: 'failed_campaign_id is not a campaign of this workspace',
      });
    }
    frozenValues =
      body.variable_mapping === undefined && failed?.template_id === body.template_id.toLowerCase();
  }
  if (body.contact_selection_type === 'csv_contacts') {
    problems.push(...(await fileProblems({ config, database, outbound }, workspaceId, body)));
  }
  return { problems, frozenValues };
}

/** An uploaded file must be one of the workspace and have the columns; of a foreign URL only the address is judged. */
async function fileProblems(
  { config, database, outbound }: Pick<Creator, 'config' | 'database' | 'outbound'>,
  workspaceId: number,
  { csv_file_key: key, csv_file_url: url, csv_mapping: mapping }: CreateCampaign,
): Promise<readonly FieldProblem[]> {
  const field = key === undefined ? 'csv_file_url' : 'csv_file_key';
  const uploaded = key ?? (url === undefined ? undefined : campaignFileKey(config, url));
  if (uploaded !== undefined) {
    const file = await findCampaignFile(database, workspaceId, uploaded);
    if (file === undefined) return [{ field, message: `${field} names no uploaded file of this workspace` }];
    return mapping === undefined ? [] : columnProblems(mapping, file.headers.length);
  }
  if (url === undefined) return [];
  const checked = outbound.checkUrl(url);
  return checked.ok ? [] : [{ field, message: targetUrlMessage(field, checked.problem) }];
}

function mappingProblems(template: Template, body: CreateCampaign, sendsAt: Date): readonly FieldProblem[] {
  const definition = parseTemplate(template.components, {
    parameterFormat: template.parameterFormat,
    category: template.category,
  });
  const counts =
    body.contact_selection_type === 'quick_contacts'
      ? (body.quick_contacts ?? []).map((entry) => parseQuickContact(entry).values.length)
      : [];
  const compiled = compileMapping(definition, body.variable_mapping ?? {}, {
    selectionType: body.contact_selection_type,
    now: sendsAt,
    inlineCount: counts.reduce((largest, count) => Math.max(largest, count), 0),
    ...(body.csv_mapping !== undefined && { csvKeys: csvKeys(body.csv_mapping) }),
  });
  const bodySlots = templateVariables(definition).body.length;
  const surplus = counts.flatMap((count, index) => {
    const field = `quick_contacts.${index}`;
    const message = `${field} has ${count} values, but the template's body has ${bodySlots} variables`;
    return count > bodySlots ? [{ field, message }] : [];
  });
  return compiled.ok ? surplus : [...surplus, ...compiled.problems];
}

function newCampaign(
  body: CreateCampaign,
  {
    channel,
    template,
    scheduledAt,
    keyId,
  }: {
    readonly channel: Channel;
    readonly template: Template;
    readonly scheduledAt: Date | null;
    readonly keyId: string;
  },
): NewCampaign {
  const {
    segments,
    contact_filters,
    csv_mapping,
    csv_file_key,
    csv_file_url,
    failed_campaign_id,
    failed_reasons,
  } = body;
  return {
    workspaceId: channel.workspaceId,
    channelId: channel.id,
    templateId: template.id,
    name: body.name,
    description: body.description ?? null,
    selectionType: body.contact_selection_type,
    audience: {
      segments,
      contact_filters,
      csv_mapping,
      csv_file_key,
      csv_file_url,
      failed_campaign_id,
      failed_reasons,
    },
    variableMapping: body.variable_mapping ?? null,
    sendType: body.send_type,
    scheduledAt,
    status: initialStatus(body.send_type),
    createdBy: keyId,
  };
}

function inputOf(body: CreateCampaign): string | undefined {
  if (body.contact_selection_type === 'quick_contacts') return JSON.stringify(body.quick_contacts);
  return body.contact_selection_type === 'csv_contacts' ? body.csv_contacts_string : undefined;
}

async function coversOneMessage(
  database: Connection,
  channel: Channel,
  template: Template,
): Promise<boolean> {
  const wallet = await getWallet(database, channel.workspaceId, channel.id);
  const price = (await findPrices(database, channel.workspaceId, template.category)).get('') ?? 0n;
  return wallet.balance - wallet.reserved >= price;
}
