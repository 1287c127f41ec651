/** Reports a campaign: the record, its counters and its reasons. Reads stored counters and counts no rows. */
import * as t from 'io-ts';
import { type FragmentSqlToken, sql } from 'slonik';
import { oneOf } from '../../codecs/struct.ts';
import {
  type CampaignStatus,
  pauseReasons,
  preparationErrorCodes,
  waitingReasons,
} from '../../domain/campaigns/campaign.ts';
import { notFound } from '../../domain/error.ts';
import type { Connection } from '../database/database.ts';
import { listPage, type Page, type PageRequest } from '../database/page.ts';
import { nullable, row, timestamp } from '../database/row.ts';
import { Evidence, pauseEvidence, priceChange, StoredPriceChange } from '../sending/failure-brake.ts';
import { paceShare, ratePerSecond } from '../sending/channel-rate.ts';
import { answerColumns, answerFields } from './answers.ts';
import { contactTotals, waitingColumns, waitingJoin } from './campaign-snapshot.ts';
import { Campaign } from './campaigns.ts';
import { Windows, windowsColumn } from './sending-hours.ts';
import { counterColumns, counterFields } from './status-counters.ts';

const CampaignReport = t.type({
  ...Campaign.props,
  /** All of these must be open: the campaign's own and the workspace's. */
  windows: Windows,
  channel_id: t.string,
  phone_number_id: t.string,
  preparation_error_code: nullable(oneOf(preparationErrorCodes)),
  preparation_error_message: nullable(t.string),
  pause_reason: nullable(oneOf(pauseReasons)),
  pause_evidence: nullable(Evidence),
  price_change: nullable(StoredPriceChange),
  waiting_for: nullable(oneOf(waitingReasons)),
  started_at: nullable(timestamp),
  completed_at: nullable(timestamp),
  archived_at: nullable(timestamp),
  waiting_until: nullable(timestamp),
  ...counterFields,
  ...answerFields,
  skipped_reasons: t.record(t.string, t.number),
  failed_reasons: t.record(t.string, t.number),
  template: t.type({ id: t.string, name: t.string, language: t.string, category: t.string }),
  created_by: t.string,
  ignore_frequency_cap: t.boolean,
  /** Micro-units. */
  max_cost: nullable(t.bigint),
  /** Micro-units: what its recipients cost so far, less what was given back. */
  charged: t.bigint,
  /** Micro-units: the most that it could cost when it began; null before, and if an earlier release began it. */
  estimate: nullable(t.bigint),
  /** Micro-units. */
  given_back: t.bigint,
  free_messages: t.number,
});
export type CampaignReport = t.TypeOf<typeof CampaignReport>;

const CampaignDetail = t.type({
  ...CampaignReport.props,
  audience: t.UnknownRecord,
  variable_mapping: nullable(t.UnknownRecord),
  /** Messages a second that the channel may send now. */
  rate: t.number,
  now: timestamp,
});
export type CampaignDetail = t.TypeOf<typeof CampaignDetail>;

const reasonsOf = (kind: 'skipped' | 'failed') => sql.fragment`
  COALESCE((SELECT jsonb_object_agg(reason, count) FROM campaign_reason
    WHERE campaign_reason.campaign_id = campaign.id AND kind = ${kind} AND count > 0), '{}'::jsonb)`;

const columns = sql.fragment`
  campaign.id, campaign.name, description, campaign.template_id, campaign.channel_id, phone_number_id, contact_selection_type,
  ${contactTotals}, preparation_status, preparation_version, preparation_error_code,
  preparation_error_message, audience_version, campaign.status, pause_reason, ${pauseEvidence} AS pause_evidence, ${priceChange} AS price_change, send_type, scheduled_at, campaign.sending_window,
  campaign.ignore_quiet_hours, campaign.ignore_frequency_cap, ${windowsColumn} AS windows, started_at,
  completed_at, archived_at, campaign.workspace_id, is_auto_trigger, campaign.created_at, campaign.updated_at,
  ${waitingColumns},
  ${counterColumns}, ${answerColumns}, charged, max_cost, campaign_money.estimate,
  coalesce(campaign_money.given_back, 0) AS given_back, coalesce(campaign_money.free_messages, 0) AS free_messages,
  ${reasonsOf('skipped')} AS skipped_reasons, ${reasonsOf('failed')} AS failed_reasons, created_by,
  jsonb_build_object('id', template.id, 'name', template.name, 'language', template.language,
    'category', template.category) AS template`;
const joins = sql.fragment`
  JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id
  JOIN channel ON channel.id = campaign.channel_id
  JOIN template ON template.id = campaign.template_id
  LEFT JOIN campaign_money ON campaign_money.campaign_id = campaign.id
  ${waitingJoin}`;

/** Throws NotFound, also for a campaign of another workspace. */
export async function getCampaignReport(
  connection: Connection,
  workspaceId: number,
  campaignId: string,
): Promise<CampaignDetail> {
  const found = await connection.maybeOne(sql.type(row(CampaignDetail))`
    SELECT ${columns}, audience, variable_mapping, (${ratePerSecond} * CASE WHEN campaign.status = 'RUNNING' THEN ${paceShare} ELSE 1 END)::float8 AS rate, now() AS now
    FROM campaign ${joins} JOIN channel_rate ON channel_rate.channel_id = channel.id
    WHERE campaign.workspace_id = ${workspaceId} AND campaign.id = ${campaignId}`);
  return found ?? notFound('Campaign');
}

export interface CampaignFilter {
  /** Empty: campaigns of every status. */
  readonly statuses?: readonly CampaignStatus[];
  /** Part of the name, whatever its case and accents. */
  readonly search?: string | undefined;
  readonly templateId?: string | undefined;
  /** Bounds of the creation time. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** Newest first. */
export function listCampaignReports(
  connection: Connection,
  workspaceId: number,
  { statuses = [], search, templateId, from, to, ...page }: PageRequest & CampaignFilter,
): Promise<Page<CampaignReport>> {
  const given = <A>(value: A | undefined, condition: (value: A) => FragmentSqlToken) =>
    value === undefined ? [] : [condition(value)];
  return listPage(connection, {
    ...page,
    narrowedBy: 'status',
    codec: CampaignReport,
    columns,
    table: sql.fragment`campaign`,
    joins,
    conditions: [
      sql.fragment`campaign.workspace_id = ${workspaceId}`,
      ...(statuses.length === 0
        ? []
        : [sql.fragment`campaign.status = ANY (${sql.array(statuses, 'text')})`]),
      ...given(search, (text) => sql.fragment`strpos(search_text(campaign.name), search_text(${text})) > 0`),
      ...given(templateId, (id) => sql.fragment`campaign.template_id = ${id}`),
      ...given(from, (at) => sql.fragment`campaign.created_at >= ${at.toISOString()}`),
      ...given(to, (at) => sql.fragment`campaign.created_at < ${at.toISOString()}`),
    ],
    order: sql.fragment`campaign.created_at DESC, campaign.id DESC`,
  });
}

// Sums of a workspace's campaigns over a time span, from their counters by minute.

export const overviewIntervals = ['day', 'hour'] as const;

const sums = {
  accepted: t.number,
  delivered: t.number,
  read: t.number,
  replied: t.number,
  opted_out: t.number,
  failed: t.number,
  charged: t.number,
};
const OverviewPoint = t.type({ at: t.string, ...sums });
const OverviewCampaign = t.type({ id: t.string, name: t.string, ...sums });
const Overview = t.type({ points: t.array(OverviewPoint), campaigns: t.array(OverviewCampaign) });
type Overview = t.TypeOf<typeof Overview>;
export type OverviewSums = t.TypeOf<ReturnType<typeof t.type<typeof sums>>>;

interface OverviewSpan {
  readonly from: Date;
  readonly to: Date;
  readonly interval: (typeof overviewIntervals)[number];
  /** Maximum number of campaigns in the list, which is sorted by accepted messages, largest first. */
  readonly limit: number;
}

const summed = sql.fragment`sum(accepted) AS accepted, sum(delivered) AS delivered, sum(read) AS read,
  sum(replied) AS replied, sum(opted_out) AS opted_out, sum(failed) AS failed, sum(charged) AS charged`;

/**
 * Answers count in the hour in which they came. Receipts arrive up to 30 days after a campaign has completed, and what did not arrive is given back a day later; campaigns that
 * completed earlier are not read. `charged`: micro-units.
 */
export function readOverview(
  connection: Connection,
  workspaceId: number,
  { from, to, interval, limit }: OverviewSpan,
): Promise<Overview> {
  const [begin, end] = [from.toISOString(), to.toISOString()];
  return connection.one(sql.type(row(Overview))`
    WITH part AS MATERIALIZED (
      SELECT campaign.id, campaign.name, minute.*
      FROM campaign CROSS JOIN LATERAL (
        SELECT date_trunc(${interval}, at, 'UTC') AS at, ${summed} FROM (
          SELECT at, accepted, delivered, read, 0 AS replied, 0 AS opted_out, failed, charged FROM campaign_minute
          WHERE campaign_id = campaign.id
          UNION ALL
          SELECT at, 0, 0, 0, CASE kind WHEN 'replied' THEN count ELSE 0 END,
            CASE kind WHEN 'opted_out' THEN count ELSE 0 END, 0, 0
          FROM campaign_answer WHERE campaign_id = campaign.id AND kind <> 'button'
        ) AS counted
        WHERE at >= ${begin} AND at < ${end} GROUP BY 1
      ) AS minute
      WHERE workspace_id = ${workspaceId} AND created_at < ${end}
        AND (completed_at IS NULL OR completed_at >= ${begin}::timestamptz - interval '33 days')
    )
    SELECT
      (SELECT coalesce(jsonb_agg(point ORDER BY point.at), '[]') FROM (
        SELECT at, ${summed} FROM part GROUP BY at
      ) AS point) AS points,
      (SELECT coalesce(jsonb_agg(total ORDER BY total.accepted DESC, total.id DESC), '[]') FROM (
        SELECT id, name, ${summed} FROM part GROUP BY id, name ORDER BY accepted DESC, id DESC LIMIT ${limit}
      ) AS total) AS campaigns`);
}
