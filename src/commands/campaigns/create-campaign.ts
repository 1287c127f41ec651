/** Creating a campaign (Spec 4.1): everything the request holds is checked at once, then one transaction writes it. */
import type { CreateCampaign } from '../../codecs/create-campaign.ts';
import type { VariableMapping } from '../../codecs/variable-mapping.ts';
import { inSlices } from '../../concurrency/in-slices.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { Principal } from '../../domain/workspaces/api-key.ts';
import { initialStatus } from '../../domain/campaigns/campaign.ts';
import { nextOpenTime, type SendingWindow } from '../../domain/campaigns/sending-window.ts';
import { csvKeys } from '../../domain/audience/csv.ts';
import {
  channelNeeded,
  templateNotApproved,
  FeatureUnavailable,
  Invalid,
  mostProblems,
  NotFound,
  Overloaded,
  type FieldProblem,
} from '../../domain/error.ts';
import { quotaMonth } from '../../domain/workspaces/feature.ts';
import { parseQuickContact } from '../../domain/audience/quick-contact.ts';
import { parseTemplate } from '../../domain/templates/components.ts';
import {
  isSendable,
  unsendableMessage,
  unsendablePart,
  type TemplateDefinition,
} from '../../domain/templates/definition.ts';
import { templateVariables } from '../../domain/templates/variables.ts';
import { checkMapping, type MappingFindings } from '../../domain/templates/variable-mapping.ts';
import {
  findCampaignContext,
  maxPreparing,
  maxUnfinished,
  type CampaignContext,
  type CampaignLoad,
} from '../../records/campaigns/creation-context.ts';
import { insertCampaign, type NewCampaign } from '../../records/campaigns/creation.ts';
import { maxStarting } from '../../records/campaigns/workflow-outbox.ts';
import type { Campaign } from '../../records/campaigns/campaigns.ts';
import type { Transaction } from '../../records/database/database.ts';
import {
  audienceProblems,
  scheduleOf,
  scheduleWarnings,
  storedSizeProblems,
} from './check-campaign-input.ts';
import { referenceProblems } from './check-references.ts';
import { exceptionProblems, windowsOf, windowWarnings } from './check-sending-window.ts';
import { neverOpens } from './edit-campaign.ts';
import { startCreated } from './deliver-workflow-outbox.ts';

type Creator = Pick<Dependencies, 'config' | 'database' | 'logger' | 'now' | 'orchestrator' | 'outbound'>;

export interface CreatedCampaign {
  readonly campaign: Campaign;
  readonly canSendTest: boolean;
  /** When its sending windows let it begin; undefined for a campaign without one. */
  readonly beginsAt: Date | undefined;
}

/** Workflow starts in flight in this process: further campaigns are started by a worker. */
const maxStarts = 100;
let starts = 0;

/**
 * Writes the campaign, with what `onWrite` adds to its transaction. Its workflow starts afterwards; a worker starts it in the
 * workspace's turn if the workspace has several to start, if the start fails, or if this process dies. Throws Invalid,
 * FeatureUnavailable, NotFound or Overloaded; the first failing rule gives the message.
 */
export async function createCampaign(
  dependencies: Creator,
  principal: Principal,
  body: CreateCampaign,
  onWrite?: (transaction: Transaction, created: CreatedCampaign) => Promise<void>,
): Promise<CreatedCampaign> {
  const { database, logger } = dependencies;
  const { newCampaign, canSendTest, load, ...checked } = await checkCampaign(dependencies, principal, body);
  requireRoom(load);
  const beginsAt = checked.windows.length === 0 ? undefined : checked.beginsAt;
  const startsAtOnce = load.starting < maxStarting && starts < maxStarts;
  const campaign =
    onWrite === undefined
      ? await insertCampaign(database, newCampaign, startsAtOnce)
      : await database.transaction(async (transaction) => {
          const written = await insertCampaign(transaction, newCampaign, startsAtOnce);
          await onWrite(transaction, { campaign: written, canSendTest, beginsAt });
          return written;
        });
  logger.info({ campaignId: campaign.id, status: campaign.status }, 'campaign created');
  if (startsAtOnce) {
    starts += 1;
    void startCreated(dependencies, { ...newCampaign, id: campaign.id }).finally(() => (starts -= 1));
  }
  return { campaign, canSendTest, beginsAt };
}

const preparedInSeconds = 10;
const finishedInSeconds = 60;

function requireRoom({ preparing, unfinished }: CampaignLoad): void {
  if (preparing >= maxPreparing)
    throw new Overloaded(
      `A workspace can have at most ${maxPreparing} campaigns in preparation`,
      preparedInSeconds,
    );
  if (unfinished >= maxUnfinished)
    throw new Overloaded(
      `A workspace can have at most ${maxUnfinished} campaigns that are not finished`,
      finishedInSeconds,
    );
}

/** A campaign that has passed every check, ready to be written. */
export interface CheckedCampaign {
  readonly newCampaign: NewCampaign;
  readonly canSendTest: boolean;
  readonly load: CampaignLoad;
  /** All of these must be open. */
  readonly windows: readonly SendingWindow[];
  /** When sending begins: at once, at the scheduled time, or at the next opening of the windows. */
  readonly beginsAt: Date;
  readonly warnings: readonly FieldProblem[];
}

/** Throws as `createCampaign` does. */
export async function checkCampaign(
  dependencies: Pick<Creator, 'config' | 'database' | 'now' | 'outbound'>,
  principal: Principal,
  body: CreateCampaign,
): Promise<CheckedCampaign> {
  const { database } = dependencies;
  const { workspaceId, channelId } = principal;
  if (channelId === null) throw channelNeeded();
  const now = dependencies.now();
  const schedule = scheduleOf(body, now);
  const audience = audienceOf(body);
  const mapping = storedMapping(body.variable_mapping);
  refuse(storedSizeProblems({ ...audience, variable_mapping: mapping }));
  refuse([...(await audienceProblems(body)), ...schedule.problems, ...exceptionProblems(body, principal)]);

  const context = await findCampaignContext(database, {
    workspaceId,
    channelId,
    templateId: body.template_id,
    month: quotaMonth(now),
  });
  if (context === undefined) throw new NotFound('Channel');
  const { template, channelIsActive, available, price } = context;
  if (template === undefined) throw new NotFound('Template');
  if (template.vanished || !isSendable(template.status)) {
    throw templateNotApproved('template_id', template.vanished ? 'gone' : template.status);
  }
  const definition = parseTemplate(template.components, template);
  const unsendable = unsendablePart(definition);
  if (unsendable !== undefined) throw Invalid.at('template_id', unsendableMessage(unsendable));
  requireFeatures(context, body);
  const windows = windowsOf(context, template, body);
  const open = nextOpenTime(windows, schedule.at ?? now);
  if (open === undefined) throw Invalid.at('sending_window', neverOpens);
  const sendsAt = open.opensAt;
  const reused = await referenceProblems(dependencies, { workspaceId, body, sendsAt });
  refuse(reused.problems);
  const { problems, warnings } = reused.frozenValues
    ? nothingFound
    : await findInMapping(definition, body, sendsAt);
  refuse(problems);

  return {
    newCampaign: {
      workspaceId,
      channelId,
      templateId: template.id,
      name: body.name,
      description: body.description ?? null,
      selectionType: body.contact_selection_type,
      audience,
      variableMapping: mapping ?? null,
      sendType: body.send_type,
      scheduledAt: schedule.at,
      sendingWindow: body.sending_window ?? null,
      ignoreQuietHours: body.ignore_quiet_hours === true,
      status: initialStatus(body.send_type),
      createdBy: principal.keyId,
      input: await inputOf(body),
    },
    canSendTest: channelIsActive && available >= price,
    load: context.load,
    windows,
    beginsAt: sendsAt,
    warnings: [
      ...scheduleWarnings(schedule.at, now),
      ...warnings,
      ...windowWarnings(schedule.at, sendsAt, now),
    ],
  };
}

const nothingFound: MappingFindings = { problems: [], warnings: [] };

function refuse(problems: readonly FieldProblem[]): void {
  if (problems.length > 0) throw Invalid.of(problems);
}

/** Spec 4.1 rules 3 to 5. */
function requireFeatures({ features, broadcastsUsed }: CampaignContext, body: CreateCampaign): void {
  if (body.send_type === 'SCHEDULED' && !features.scheduleCampaigns) {
    throw new FeatureUnavailable('schedule_campaigns', 'The Schedule Campaigns feature is not available');
  }
  if (body.contact_selection_type === 'segmented' && !features.targetedSegments) {
    throw new FeatureUnavailable('targeted_segments', 'The Targeted Segments feature is not available');
  }
  // A scheduled campaign is counted when it starts, perhaps in another month.
  if (features.broadcastsPerMonth === null || body.send_type === 'SCHEDULED') return;
  if (broadcastsUsed >= features.broadcastsPerMonth) {
    throw new FeatureUnavailable(
      'broadcasts_per_month',
      'The Broadcasts Per Month feature is used up for this month',
    );
  }
}

/** Quick contacts processed in one turn of the event loop. */
const sliceSize = 10_000;

async function findInMapping(
  definition: TemplateDefinition,
  body: CreateCampaign,
  sendsAt: Date,
): Promise<MappingFindings> {
  const bodySlots = templateVariables(definition).body.length;
  const surplus: FieldProblem[] = [];
  let inlineCount = 0;
  const entries = body.contact_selection_type === 'quick_contacts' ? (body.quick_contacts ?? []) : [];
  await inSlices(entries, sliceSize, (slice, from) => {
    for (const [at, entry] of slice.entries()) {
      const count = parseQuickContact(entry).values.length;
      inlineCount = Math.max(inlineCount, count);
      if (count <= bodySlots || surplus.length === mostProblems) continue;
      const field = `quick_contacts.${from + at}`;
      const message = `${field} has ${count} values, but the template's body has ${bodySlots} variables: leave out the rest`;
      surplus.push({ field, message });
    }
  });
  const { problems, warnings } = checkMapping(definition, body.variable_mapping ?? {}, {
    selectionType: body.contact_selection_type,
    now: sendsAt,
    inlineCount,
    ...(body.csv_mapping !== undefined && { csvKeys: csvKeys(body.csv_mapping) }),
  });
  return { problems: [...surplus, ...problems], warnings };
}

/** The mapping without its footers, which have no variables. */
function storedMapping(mapping: VariableMapping | undefined): VariableMapping | undefined {
  if (mapping === undefined) return undefined;
  const { footer: _, default_values: defaults, ...stored } = mapping;
  if (defaults === undefined) return stored;
  const { footer: __, ...storedDefaults } = defaults;
  return { ...stored, default_values: storedDefaults };
}

/** The small part of the audience input. */
function audienceOf(body: CreateCampaign) {
  const { segments, contact_filters, csv_mapping, csv_file_key, csv_file_url } = body;
  const { failed_campaign_id, failed_reasons } = body;
  return {
    segments,
    contact_filters,
    csv_mapping,
    csv_file_key,
    csv_file_url,
    failed_campaign_id,
    failed_reasons,
  };
}

/** Audience input as bytes: given a text of 8 MiB, the Postgres driver would encode it in one go. */
async function inputOf(body: CreateCampaign): Promise<Buffer | undefined> {
  if (body.contact_selection_type === 'quick_contacts') {
    const slices: Buffer[] = [];
    await inSlices(body.quick_contacts ?? [], sliceSize, (slice, from) => {
      slices.push(Buffer.from(`${from === 0 ? '[' : ','}${JSON.stringify(slice).slice(1, -1)}`));
    });
    return Buffer.concat([...slices, Buffer.from(']')]);
  }
  const csv = body.contact_selection_type === 'csv_contacts' ? body.csv_contacts_string : undefined;
  return csv === undefined ? undefined : Buffer.from(csv);
}
