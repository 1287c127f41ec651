/** Creates a campaign (Spec 4.1): checks the whole request first, then writes it in one transaction. */
import { isRight } from 'fp-ts/lib/Either.js';
import type { CreateCampaign } from '../../codecs/create-campaign.ts';
import { IsoDateTime } from '../../codecs/scalars.ts';
import { inSlices } from '../../concurrency/slices.ts';
import type { Dependencies } from '../../dependencies.ts';
import { columnProblems, csvKeys } from '../../domain/audience/csv.ts';
import { parseQuickContact } from '../../domain/audience/quick-contact.ts';
import { initialStatus } from '../../domain/campaigns/campaign.ts';
import { nextOpenTime, type SendingWindow } from '../../domain/campaigns/sending-window.ts';
import {
  channelNeeded,
  FeatureUnavailable,
  type FieldProblem,
  Invalid,
  mostProblems,
  NotFound,
  Overloaded,
  templateNotApproved,
} from '../../domain/error.ts';
import { parseAmount } from '../../domain/money.ts';
import type { ErrorCode } from '../../domain/error-code.ts';
import { parseTemplate } from '../../domain/templates/components.ts';
import {
  isSendable,
  type TemplateDefinition,
  unsendableMessage,
  unsendablePart,
} from '../../domain/templates/definition.ts';
import { offerEndsBy } from '../../domain/templates/plan.ts';
import { checkMapping, keptMapping, type MappingFindings } from '../../domain/templates/variable-mapping.ts';
import { templateVariables } from '../../domain/templates/variables.ts';
import type { Principal } from '../../domain/workspaces/api-key.ts';
import { quotaMonth } from '../../domain/workspaces/feature.ts';
import { targetUrlMessage } from '../../outbound/address-guard.ts';
import { selectionProblem } from '../../records/audience/audience-sources.ts';
import { findResendableCampaign } from '../../records/audience/failed-recipients.ts';
import type { Campaign } from '../../records/campaigns/campaigns.ts';
import {
  type CampaignContext,
  type CampaignLoad,
  findCampaignContext,
  insertCampaign,
  maxPreparing,
  maxUnfinished,
  type NewCampaign,
} from '../../records/campaigns/creation.ts';
import { findCampaignFile } from '../../records/campaigns/files.ts';
import { listFilters, loadFilterContext } from '../../records/contacts/segments.ts';
import { maxStarting } from '../../records/campaigns/workflow-outbox.ts';
import type { Transaction } from '../../records/database/database.ts';
import { getWorkspaceCountry } from '../../records/workspaces/workspaces.ts';
import { campaignFileKey } from '../audience/campaign-file.ts';
import { defaultCountryOf } from '../audience/candidates.ts';
import { checkConditions } from '../contacts/check-conditions.ts';
import { audienceProblems } from './audience-problems.ts';
import { startCreated } from './deliver-workflow-outbox.ts';
import { capRefusal, neverOpens, quietHoursRefusal, windowWarnings } from './edit-campaign.ts';
import { requirePrices } from '../wallet/load-prices.ts';

type Creator = Pick<Dependencies, 'config' | 'database' | 'logger' | 'now' | 'orchestrator' | 'outbound'>;

export interface CreatedCampaign {
  readonly campaign: Campaign;
  readonly canSendTest: boolean;
  /** When its sending windows let it begin; undefined if it has none. */
  readonly beginsAt: Date | undefined;
  readonly warnings: readonly FieldProblem[];
}

/** Workflow starts in flight in this process; beyond that, a worker starts the campaigns. */
const maxStarts = 100;
let starts = 0;

/**
 * Writes the campaign, together with whatever `onWrite` adds to its transaction, and then starts its workflow. A worker starts
 * it in the workspace's turn if the workspace has several to start, if the start fails, or if this process dies. Throws
 * Invalid, FeatureUnavailable, NotFound or Overloaded, with the message of the first rule that fails.
 */
export async function createCampaign(
  dependencies: Creator,
  principal: Principal,
  body: CreateCampaign,
  onWrite?: (transaction: Transaction, created: CreatedCampaign) => Promise<void>,
): Promise<CreatedCampaign> {
  const { database, logger } = dependencies;
  const { newCampaign, canSendTest, load, warnings, ...checked } = await checkCampaign(
    dependencies,
    principal,
    body,
  );
  requireRoom(load);
  const beginsAt = checked.windows.length === 0 ? undefined : checked.beginsAt;
  const startsAtOnce = load.starting < maxStarting && starts < maxStarts;
  const campaign =
    onWrite === undefined
      ? await insertCampaign(database, newCampaign, startsAtOnce)
      : await database.transaction(async (transaction) => {
          const written = await insertCampaign(transaction, newCampaign, startsAtOnce);
          await onWrite(transaction, { campaign: written, canSendTest, beginsAt, warnings });
          return written;
        });
  logger.info({ campaignId: campaign.id, status: campaign.status }, 'campaign created');
  if (startsAtOnce) {
    starts += 1;
    void startCreated(dependencies, { ...newCampaign, id: campaign.id }).finally(() => (starts -= 1));
  }
  return { campaign, canSendTest, beginsAt, warnings };
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

/** A campaign that passed every check and is ready to be written. */
export interface CheckedCampaign {
  readonly newCampaign: NewCampaign;
  readonly canSendTest: boolean;
  /** The country of numbers that name none; ''. */
  readonly defaultCountry: string;
  readonly load: CampaignLoad;
  /** All of these must be open. */
  readonly windows: readonly SendingWindow[];
  /** When sending begins: at once, at the scheduled time, or when the windows next open. */
  readonly beginsAt: Date;
  readonly warnings: readonly FieldProblem[];
}

/** Throws the same errors as `createCampaign`. */
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
  refuseAny(storedSizeProblems(audienceOf(body)));
  const defaultCountry = await readDefaultCountry(database, workspaceId, body);
  refuseAny([
    ...(await audienceProblems(body, defaultCountry)),
    ...schedule.problems,
    ...exceptionProblems(body, principal),
  ]);

  const context = await findCampaignContext(database, {
    workspaceId,
    channelId,
    templateId: body.template_id,
    month: quotaMonth(now),
  });
  if (context === undefined) throw new NotFound('Channel');
  await requirePrices(dependencies.config, database, channelId);
  const { template, channelIsActive, marketingEndpoint, available, price } = context;
  if (template === undefined) throw new NotFound('Template', 'template_not_found');
  if (template.vanished || !isSendable(template.status)) {
    throw templateNotApproved('template_id', template.vanished ? 'gone' : template.status);
  }
  const definition = parseTemplate(template.components, template);
  const unsendable = unsendablePart(definition, marketingEndpoint && template.category === 'MARKETING');
  if (unsendable !== undefined) throw Invalid.at('template_id', unsendableMessage(unsendable));
  requireFeatures(context, body);
  const windows = windowsOf(context, template, body);
  const open = nextOpenTime(windows, schedule.at ?? now);
  if (open === undefined) throw Invalid.at('sending_window', neverOpens);
  const sendsAt = open.opensAt;
  const reused = await referenceProblems(dependencies, { workspaceId, body, sendsAt });
  refuseAny(reused.problems);
  const audience = { ...audienceOf(body), contact_filters: reused.filter };
  const { problems, warnings } = reused.frozenValues
    ? nothingFound
    : await findInMapping(definition, body, sendsAt);
  refuseAny(problems);
  const mapping = body.variable_mapping === undefined ? null : keptMapping(definition, body.variable_mapping);
  refuseAny(storedSizeProblems({ ...audience, variable_mapping: mapping }));

  return {
    newCampaign: {
      workspaceId,
      channelId,
      templateId: template.id,
      name: body.name,
      description: body.description ?? null,
      selectionType: body.contact_selection_type,
      audience,
      variableMapping: mapping,
      sendType: body.send_type,
      scheduledAt: schedule.at,
      sendingWindow: body.sending_window ?? null,
      ignoreQuietHours: body.ignore_quiet_hours === true,
      ignoreFrequencyCap: body.ignore_frequency_cap === true,
      maxCost: body.max_cost === undefined ? null : (parseAmount(body.max_cost) ?? null),
      status: initialStatus(body.send_type),
      createdBy: principal.keyId,
      fileKey: fileKeyOf(dependencies.config, body),
      input: await inputOf(body),
    },
    canSendTest: channelIsActive && available >= price,
    defaultCountry,
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

/** Only numbers of a request are read with it. */
export async function readDefaultCountry(
  database: Creator['database'],
  workspaceId: number,
  body: CreateCampaign,
): Promise<string> {
  const { contact_selection_type: kind } = body;
  if (kind !== 'csv_contacts' && kind !== 'quick_contacts') return '';
  return (
    defaultCountryOf(body, null) || defaultCountryOf(body, await getWorkspaceCountry(database, workspaceId))
  );
}

const nothingFound: MappingFindings = { problems: [], warnings: [] };

function refuseAny(problems: readonly FieldProblem[]): void {
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
  // A scheduled campaign is counted when it starts, which may be in another month.
  if (features.broadcastsPerMonth === null || body.send_type === 'SCHEDULED') return;
  if (broadcastsUsed >= features.broadcastsPerMonth) {
    throw new FeatureUnavailable(
      'broadcasts_per_month',
      'The Broadcasts Per Month feature is used up for this month',
    );
  }
}

/** Quick contacts processed before yielding to the event loop. */
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

/** The small part of the audience input. */
function audienceOf(body: CreateCampaign) {
  const { segments, contact_filters, csv_mapping, csv_file_key, csv_file_url } = body;
  const { failed_campaign_id, failed_reasons, default_country } = body;
  return {
    segments,
    contact_filters,
    csv_mapping,
    csv_file_key,
    csv_file_url,
    failed_campaign_id,
    failed_reasons,
    default_country,
  };
}

function fileKeyOf(config: Creator['config'], body: CreateCampaign): string | undefined {
  const { csv_file_key: key, csv_file_url: url } = body;
  if (body.contact_selection_type !== 'csv_contacts') return undefined;
  return key ?? (url === undefined ? undefined : campaignFileKey(config, url));
}

/** The audience input as bytes, because the Postgres driver would encode a string of 8 MiB in one go. */
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

// Checks the rules of Spec 4.1 that need only the request, such as fields that depend on each other.

const problem = (field: string, message: string, code?: ErrorCode): FieldProblem => ({
  field,
  message,
  code,
});

/** When a scheduled campaign starts; null for an immediate one. */
function scheduleOf(
  body: CreateCampaign,
  now: Date,
): { readonly at: Date | null; readonly problems: readonly FieldProblem[] } {
  const refuse = (message: string, code?: ErrorCode) =>
    ({ at: null, problems: [problem('scheduled_at', message, code)] }) as const;
  if (body.send_type === 'IMMEDIATE') {
    const isGiven = body.scheduled_at !== undefined && body.scheduled_at !== null;
    return isGiven ? refuse('scheduled_at is only for SCHEDULED campaigns') : { at: null, problems: [] };
  }
  if (body.scheduled_at === undefined || body.scheduled_at === null)
    return refuse('scheduled_at is required beside SCHEDULED, such as 2026-12-24T18:00:00Z');
  const decoded = IsoDateTime.decode(body.scheduled_at);
  if (!isRight(decoded))
    return refuse(
      'scheduled_at must be an ISO 8601 date-time with a time zone, such as 2026-12-24T18:00:00Z',
    );
  const at = decoded.right;
  if (at.getTime() <= now.getTime())
    return refuse('Scheduled time must be in the future', 'schedule_in_past');
  return { at, problems: [] };
}

const yearMs = 366 * 24 * 60 * 60 * 1_000;

/** Warns about a time more than a year ahead, which is allowed but is probably a mistyped year. */
function scheduleWarnings(scheduledAt: Date | null, now: Date): readonly FieldProblem[] {
  if (scheduledAt === null || scheduledAt.getTime() - now.getTime() <= yearMs) return [];
  return [problem('scheduled_at', 'scheduled_at is more than a year ahead: check the year')];
}

/** Maximum JSON size of a campaign's `audience` and `variable_mapping`, which every response about the campaign repeats. */
const maxStoredBytes = 256 * 1024;

/** Reports input that is too large to be stored with the campaign, under the name of its largest field. */
function storedSizeProblems(stored: Readonly<Record<string, unknown>>): readonly FieldProblem[] {
  const sizes = Object.entries(stored).map(
    ([field, value]) => [field, value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value))] as const,
  );
  const all = sizes.reduce((sum, [, bytes]) => sum + bytes, 0);
  const [largest] = sizes.toSorted(([, one], [, other]) => other - one);
  if (largest === undefined || all <= maxStoredBytes) return [];
  const [field, bytes] = largest;
  const message = `${field} takes ${bytes} bytes as JSON, but the audience and variable_mapping may take ${maxStoredBytes} bytes together: shorten it, or upload the audience as a file`;
  return [problem(field, message)];
}

// Checks what a new campaign refers to: segments, files and the campaign whose failed contacts it sends to.

type Sources = Pick<Dependencies, 'config' | 'database' | 'outbound'>;

interface Reused {
  readonly problems: readonly FieldProblem[];
  /** True to reuse the values that the failed campaign froze. */
  readonly frozenValues: boolean;
  readonly filter: CreateCampaign['contact_filters'];
}

async function referenceProblems(
  { config, database, outbound }: Sources,
  {
    workspaceId,
    body,
    sendsAt,
  }: { readonly workspaceId: number; readonly body: CreateCampaign; readonly sendsAt: Date },
): Promise<Reused> {
  const problems: FieldProblem[] = [];
  let frozenValues = false;
  let filter = body.contact_filters;
  if (body.contact_selection_type === 'segmented') {
    const found = await findFilters(database, workspaceId, body);
    ({ filter } = found);
    problems.push(...found.problems);
  }
  if (body.contact_selection_type === 'failed_contacts' && body.failed_campaign_id !== undefined) {
    const failed = await findResendableCampaign(database, workspaceId, body.failed_campaign_id);
    if (failed === undefined) {
      problems.push({
        field: 'failed_campaign_id',
        message: 'failed_campaign_id is not a campaign of this workspace: GET /api/campaigns lists them',
      });
    }
    if (failed?.archived === true) {
      const message = 'failed_campaign_id is a campaign whose recipients were deleted: send to them by a CSV';
      problems.push({ field: 'failed_campaign_id', message });
    }
    frozenValues =
      body.variable_mapping === undefined && failed?.template_id === body.template_id.toLowerCase();
    if (frozenValues && offerEndsBy(failed?.message_plan, sendsAt)) {
      const message = 'variable_mapping is required: the offer of the failed campaign has expired by then';
      problems.push({ field: 'variable_mapping', message });
    }
  }
  if (body.contact_selection_type === 'csv_contacts') {
    problems.push(...(await fileProblems({ config, database, outbound }, workspaceId, body)));
  }
  return { problems, frozenValues, filter };
}

/** Checks that an uploaded file belongs to the workspace and has the mapped columns; for a foreign URL, checks the address. */
async function fileProblems(
  { config, database, outbound }: Sources,
  workspaceId: number,
  { csv_file_key: key, csv_file_url: url, csv_mapping: mapping }: CreateCampaign,
): Promise<readonly FieldProblem[]> {
  const field = key === undefined ? 'csv_file_url' : 'csv_file_key';
  const uploaded = key ?? (url === undefined ? undefined : campaignFileKey(config, url));
  if (uploaded !== undefined) {
    const file = await findCampaignFile(database, workspaceId, uploaded);
    if (file === undefined)
      return [{ field, message: `${field} names no file of POST /api/campaigns/csv-files` }];
    return mapping === undefined ? [] : columnProblems(mapping, file.headers.length);
  }
  if (url === undefined) return [];
  const checked = outbound.checkUrl(url);
  return checked.ok ? [] : [{ field, message: targetUrlMessage(field, checked.problem) }];
}

/** With the ids of the custom fields that `contact_filters` means. */
async function findFilters(
  database: Sources['database'],
  workspaceId: number,
  { segments = [], contact_filters: filter }: CreateCampaign,
): Promise<{
  readonly filter: CreateCampaign['contact_filters'];
  readonly problems: readonly FieldProblem[];
}> {
  const checked = await checkConditions(database, workspaceId, filter?.conditions ?? [], {
    path: 'contact_filters.conditions',
  });
  const present = filter === undefined ? undefined : { ...filter, conditions: [...checked.conditions] };
  if (checked.problems.length > 0) return { filter: present, problems: checked.problems };
  const found = await listFilters(database, workspaceId, segments);
  const known = new Set(found.map(({ id }) => id));
  const missing = [...segments.keys()].filter((at) => !known.has(segments[at]?.toLowerCase() ?? ''));
  if (missing.length > 0) {
    const problems = missing.map((at) => ({
      field: `segments.${at}`,
      message: `segments.${at} is not a segment of this workspace: GET /api/segments lists them`,
    }));
    return { filter: present, problems };
  }
  const context = await loadFilterContext(
    database,
    workspaceId,
    [...found, ...(present === undefined ? [] : [present])].map(({ conditions }) => conditions),
  );
  const message = selectionProblem({ segments: found, filter: present, context });
  return { filter: present, problems: message === undefined ? [] : [{ field: 'segments', message }] };
}

// Checks the sending window of a new campaign, and warns when it delays the start.

/** Quiet hours and frequency cap belong to the workspace: only an operator may exempt a campaign from them. */
function exceptionProblems(body: CreateCampaign, { scope }: Principal): readonly FieldProblem[] {
  if (scope === 'operator') return [];
  return [
    ...(body.ignore_quiet_hours === true ? [problem('ignore_quiet_hours', quietHoursRefusal)] : []),
    ...(body.ignore_frequency_cap === true ? [problem('ignore_frequency_cap', capRefusal)] : []),
  ];
}

/** Windows that must all be open for the campaign to send: its own and, for MARKETING templates, the workspace's. */
function windowsOf(
  { quietHours }: Pick<CampaignContext, 'quietHours'>,
  { category }: { readonly category: string },
  { sending_window: own, ignore_quiet_hours: ignores }: CreateCampaign,
): readonly SendingWindow[] {
  const inherited = category === 'MARKETING' && ignores !== true ? quietHours : null;
  return [own ?? null, inherited].filter((window) => window !== null);
}
