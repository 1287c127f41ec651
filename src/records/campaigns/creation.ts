/** A new campaign with its counters, its input, and the outbox message that starts its workflow. */
import * as t from 'io-ts';
import { type FragmentSqlToken, sql } from 'slonik';
import { SendingWindow } from '../../codecs/sending-window.ts';
import type { CampaignStatus, ContactSelectionType, SendType } from '../../domain/campaigns/campaign.ts';
import type { SendingWindow as Window } from '../../domain/campaigns/sending-window.ts';
import type { Features } from '../../domain/workspaces/feature.ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row } from '../database/row.ts';
import { auditEntry } from '../operations/audit.ts';
import { cardOf, priceTermsOfTemplate } from '../wallet/wallets.ts';
import { Campaign, campaignSelection } from './campaigns.ts';
import { maxStarting, outboxStart } from './workflow-outbox.ts';

// Context of a campaign's creation: the sending channel, the template, the features and the money.

interface ContextQuestion {
  readonly workspaceId: number;
  readonly channelId: string;
  readonly templateId: string;
  /** First day of the quota's UTC month, as `YYYY-MM-DD`. */
  readonly month: string;
}

export interface CampaignContext {
  readonly channelIsActive: boolean;
  readonly marketingEndpoint: boolean;
  /** Undefined when the channel's business account has no such template. */
  readonly template: ContextTemplate | undefined;
  readonly features: Features;
  readonly broadcastsUsed: number;
  /** The workspace's sending window for MARKETING templates; null: always open. */
  readonly quietHours: Window | null;
  /** Micro-units of the channel's wallet that are not reserved. */
  readonly available: bigint;
  /** Price in micro-units of a message to a country that has no specific price. */
  readonly price: bigint;
  readonly load: CampaignLoad;
}

/** Campaigns of the workspace; counting stops at the limits. */
export interface CampaignLoad {
  /** Their workflows wait for a worker, or for their turn. */
  readonly starting: number;
  readonly preparing: number;
  readonly unfinished: number;
}

export const maxPreparing = 1_000;
export const maxUnfinished = 10_000;

const Template = t.type({
  id: t.string,
  category: t.string,
  status: t.string,
  parameterFormat: t.string,
  components: t.readonlyArray(t.unknown),
  vanished: t.boolean,
});
type ContextTemplate = t.TypeOf<typeof Template>;

const ContextRow = row(
  t.type({
    channelIsActive: t.boolean,
    marketingEndpoint: t.boolean,
    template: nullable(Template),
    scheduleCampaigns: t.boolean,
    targetedSegments: t.boolean,
    broadcastsPerMonth: nullable(t.number),
    broadcastsUsed: t.number,
    quietHours: nullable(SendingWindow),
    available: t.bigint,
    price: t.bigint,
    starting: t.number,
    preparing: t.number,
    unfinished: t.number,
  }),
);

/** Returns undefined for a channel of another workspace. */
export async function findCampaignContext(
  connection: Connection,
  { workspaceId, channelId, templateId, month }: ContextQuestion,
): Promise<CampaignContext | undefined> {
  const card = cardOf(sql.fragment`channel.id`, sql.fragment`template.category`, priceTermsOfTemplate);
  const found = await connection.maybeOne(sql.type(ContextRow)`
    SELECT channel.status = 'active' AS "channelIsActive", channel.marketing_endpoint AS "marketingEndpoint",
      CASE WHEN template.id IS NOT NULL THEN jsonb_build_object(
        'id', template.id, 'category', template.category, 'status', template.status,
        'parameterFormat', template.parameter_format, 'components', template.components,
        'vanished', template.vanished_at IS NOT NULL) END AS template,
      feature.schedule_campaigns AS "scheduleCampaigns", feature.targeted_segments AS "targetedSegments",
      feature.broadcasts_per_month AS "broadcastsPerMonth", coalesce(broadcast_usage.used, 0) AS "broadcastsUsed",
      (SELECT sending_window FROM workspace WHERE id = channel.workspace_id) AS "quietHours",
      wallet.balance - wallet.reserved AS available,
      (SELECT price FROM (${card}) AS card WHERE country = '') AS price,
      ${countUpTo(
        maxStarting,
        sql.fragment`workflow_outbox
        WHERE workspace_id = channel.workspace_id AND kind = 'start'`,
      )} AS starting,
      ${countUpTo(maxPreparing, sql.fragment`${unfinishedCampaigns} AND preparation_status = 'PREPARING'`)} AS preparing,
      ${countUpTo(maxUnfinished, unfinishedCampaigns)} AS unfinished
    FROM channel
    JOIN workspace_feature AS feature ON feature.workspace_id = channel.workspace_id
    JOIN wallet ON wallet.channel_id = channel.id
    LEFT JOIN template ON template.workspace_id = channel.workspace_id AND template.id = ${templateId}
      AND template.business_account_id = channel.business_account_id
    LEFT JOIN broadcast_usage ON broadcast_usage.workspace_id = channel.workspace_id
      AND broadcast_usage.month = ${month}::date
    WHERE channel.workspace_id = ${workspaceId} AND channel.id = ${channelId}`);
  if (found === null) return undefined;
  const { scheduleCampaigns, targetedSegments, broadcastsPerMonth, template, ...rest } = found;
  const { starting, preparing, unfinished, ...context } = rest;
  const features = { scheduleCampaigns, targetedSegments, broadcastsPerMonth };
  const load = { starting, preparing, unfinished };
  return { ...context, template: template ?? undefined, features, load };
}

// Spelled as in the partial index campaign_unfinished.
const unfinishedCampaigns = sql.fragment`campaign
  WHERE workspace_id = channel.workspace_id AND status IN ('DRAFT', 'SCHEDULED', 'RUNNING', 'PAUSED')`;

const countUpTo = (most: number, rows: FragmentSqlToken): FragmentSqlToken =>
  sql.fragment`(SELECT count(*)::int4 FROM (SELECT FROM ${rows} LIMIT ${most}) AS counted)`;

// Changes of a campaign's name, description and sending hours.

/** Absent fields stay as they are. */
export interface CampaignChanges {
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly sendingWindow?: Window | null | undefined;
  readonly ignoreQuietHours?: boolean | undefined;
  readonly ignoreFrequencyCap?: boolean | undefined;
  readonly scheduledAt?: Date | undefined;
  /** Micro-units; null removes the maximum. */
  readonly maxCost?: bigint | null | undefined;
}

/** Returns false if the campaign is not SCHEDULED. */
export async function saveSchedule(
  transaction: Connection,
  campaignId: string,
  scheduledAt: Date,
): Promise<boolean> {
  const { rowCount } = await transaction.query(sql.type(nothing)`
    UPDATE campaign SET scheduled_at = ${scheduledAt.toISOString()}, updated_at = now()
    WHERE id = ${campaignId} AND status = 'SCHEDULED'`);
  return rowCount > 0;
}

export async function saveCampaignTexts(
  transaction: Connection,
  campaignId: string,
  { name, description }: Pick<CampaignChanges, 'name' | 'description'>,
): Promise<void> {
  await transaction.query(sql.type(nothing)`
    UPDATE campaign SET name = coalesce(${name ?? null}, name),
      description = CASE WHEN ${description === undefined} THEN description ELSE ${description ?? null} END,
      updated_at = now()
    WHERE id = ${campaignId}`);
}

/** The next claim reads it. */
export async function saveMaxCost(
  transaction: Connection,
  campaignId: string,
  maxCost: bigint | null,
): Promise<void> {
  await transaction.query(sql.type(nothing)`
    UPDATE campaign SET max_cost = ${maxCost}, updated_at = now() WHERE id = ${campaignId}`);
}

/** Raises the epoch, so that a step that sends with or without the cap claims nothing more. */
export async function saveCapExemption(
  transaction: Connection,
  campaignId: string,
  ignoreFrequencyCap: boolean,
): Promise<void> {
  await transaction.query(sql.type(nothing)`
    UPDATE campaign SET ignore_frequency_cap = ${ignoreFrequencyCap}, epoch = epoch + 1, updated_at = now()
    WHERE id = ${campaignId}`);
}

/** Raises the epoch, so that a step that sends under the previous windows claims nothing more. */
export async function saveCampaignWindow(
  transaction: Connection,
  campaignId: string,
  { sendingWindow, ignoreQuietHours }: Pick<CampaignChanges, 'sendingWindow' | 'ignoreQuietHours'>,
): Promise<void> {
  const window = sendingWindow === undefined || sendingWindow === null ? null : JSON.stringify(sendingWindow);
  await transaction.query(sql.type(nothing)`
    UPDATE campaign SET
      sending_window = CASE WHEN ${sendingWindow === undefined} THEN sending_window ELSE ${window}::jsonb END,
      ignore_quiet_hours = coalesce(${ignoreQuietHours ?? null}::boolean, ignore_quiet_hours),
      window_opens_at = NULL, epoch = epoch + 1, updated_at = now()
    WHERE id = ${campaignId}`);
}

export interface NewCampaign {
  readonly workspaceId: number;
  readonly channelId: string;
  readonly templateId: string;
  readonly name: string;
  readonly description: string | null;
  readonly selectionType: ContactSelectionType;
  /** JSON. */
  readonly audience: unknown;
  /** JSON; null without a mapping. */
  readonly variableMapping: unknown;
  readonly sendType: SendType;
  readonly scheduledAt: Date | null;
  readonly sendingWindow?: Window | null;
  readonly ignoreQuietHours?: boolean;
  readonly ignoreFrequencyCap?: boolean;
  /** Micro-units; null without a maximum. */
  readonly maxCost?: bigint | null;
  readonly status: CampaignStatus;
  readonly createdBy: string;
  /** The uploaded file that is its audience. */
  readonly fileKey?: string | undefined;
  /** The large part of the audience input in UTF-8: an inline CSV, or the JSON of quick contacts. */
  readonly input: Buffer | undefined;
}

/** One statement. `startsAtOnce`: the caller starts the workflow, which otherwise waits for the workspace's turn. */
export async function insertCampaign(
  connection: Connection,
  campaign: NewCampaign,
  startsAtOnce = true,
): Promise<Campaign> {
  const { workspaceId, audience, variableMapping: mapping, scheduledAt, input } = campaign;
  const {
    sendingWindow = null,
    ignoreQuietHours = false,
    ignoreFrequencyCap = false,
    maxCost = null,
  } = campaign;
  const id = sql.fragment`(SELECT id FROM created)`;
  return connection.one(sql.type(row(Campaign))`
    WITH created AS (
      INSERT INTO campaign (workspace_id, channel_id, template_id, name, description, contact_selection_type, audience,
        variable_mapping, send_type, scheduled_at, sending_window, ignore_quiet_hours, ignore_frequency_cap, max_cost, status, preparation_status,
        created_by)
      VALUES (${workspaceId}, ${campaign.channelId}, ${campaign.templateId}, ${campaign.name},
        ${campaign.description}, ${campaign.selectionType}, ${JSON.stringify(audience)}::jsonb,
        ${mapping === null ? null : JSON.stringify(mapping)}::jsonb, ${campaign.sendType},
        ${scheduledAt === null ? null : scheduledAt.toISOString()}::timestamptz,
        ${sendingWindow === null ? null : JSON.stringify(sendingWindow)}::jsonb, ${ignoreQuietHours}, ${ignoreFrequencyCap},
        ${maxCost}::bigint,
        ${campaign.status}, 'PREPARING', ${campaign.createdBy})
      RETURNING ${campaignSelection}
    ), counted AS (
      INSERT INTO campaign_counter (campaign_id) SELECT id FROM created
    ), kept AS (
      INSERT INTO campaign_input (campaign_id, content)
      SELECT id, content FROM created, (VALUES (convert_from(${input === undefined ? null : sql.binary(input)}::bytea, 'UTF8'))) AS given (content) WHERE content IS NOT NULL
    ), used AS (
      UPDATE campaign_file SET used_at = now() WHERE workspace_id = ${workspaceId} AND key = ${campaign.fileKey ?? null}::text
    ), audited AS (
      ${auditEntry({ workspaceId, action: 'campaign.create', objectId: id })}
    ), started AS (
      ${outboxStart(id, workspaceId, startsAtOnce)}
    )
    SELECT * FROM created`);
}
