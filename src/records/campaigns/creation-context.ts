/** Context of a campaign's creation: the sending channel, the template, the features and the money. */
import { sql, type FragmentSqlToken } from 'slonik';
import * as t from 'io-ts';
import { SendingWindow } from '../../codecs/sending-window.ts';
import type { SendingWindow as Window } from '../../domain/campaigns/sending-window.ts';
import type { Features } from '../../domain/workspaces/feature.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row } from '../database/row.ts';
import { cardOf } from '../wallet/wallets.ts';
import { maxStarting } from './workflow-outbox.ts';

export interface ContextQuestion {
  readonly workspaceId: number;
  readonly channelId: string;
  readonly templateId: string;
  /** First day of the quota's UTC month, as `YYYY-MM-DD`. */
  readonly month: string;
}

export interface CampaignContext {
  readonly channelIsActive: boolean;
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

/** Campaigns of the workspace, counted no further than their maxima. */
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
export type ContextTemplate = t.TypeOf<typeof Template>;

const ContextRow = row(
  t.type({
    channelIsActive: t.boolean,
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

/** Undefined for a channel that is not of the workspace. */
export async function findCampaignContext(
  connection: Connection,
  { workspaceId, channelId, templateId, month }: ContextQuestion,
): Promise<CampaignContext | undefined> {
  const card = cardOf(sql.fragment`channel.workspace_id`, sql.fragment`template.category`);
  const found = await connection.maybeOne(sql.type(ContextRow)`
    SELECT channel.status = 'active' AS "channelIsActive",
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
