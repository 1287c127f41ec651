/** Reads campaigns for the doctor, in batches by id. No lock and no snapshot is held for longer than one statement. */
import { sql, type FragmentSqlToken } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import { campaignStatuses, openStatuses, pauseReasons } from '../../domain/campaigns/campaign.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row } from '../database/row.ts';

const CampaignToCheck = t.type({
  id: t.string,
  workspace_id: t.number,
  name: t.string,
  status: oneOf(campaignStatuses),
  pause_reason: nullable(oneOf(pauseReasons)),
  prepared: t.boolean,
  epoch: t.number,
  claimed_position: t.number,
  /** True when the campaign was last updated more than `settledSeconds` ago. */
  settled: t.boolean,
  /** True when it is SCHEDULED and should have begun more than `settledSeconds` ago. */
  overdue: t.boolean,
});
export type CampaignToCheck = t.TypeOf<typeof CampaignToCheck>;

/** A batch of rows in ascending order of their ids, after `afterId`. */
export interface Batch {
  readonly afterId: string | null;
  readonly limit: number;
}

/** Which rows to read: a batch, or some of them. */
export type Selection = Batch | { readonly ids: readonly string[] };

export const isSelected = (id: FragmentSqlToken, selection: Selection): FragmentSqlToken =>
  'ids' in selection
    ? sql.fragment`${id} = ANY (${sql.array([...selection.ids], 'uuid')})`
    : sql.fragment`(${selection.afterId}::uuid IS NULL OR ${id} > ${selection.afterId}::uuid)`;
export const limitOf = (selection: Selection): FragmentSqlToken =>
  'ids' in selection ? sql.fragment`` : sql.fragment`LIMIT ${selection.limit}`;

/** Lists campaigns whose workflow should be running. */
export function listOpenCampaigns(
  connection: Connection,
  selection: Selection & { readonly settledSeconds: number },
): Promise<readonly CampaignToCheck[]> {
  return connection.any(sql.type(row(CampaignToCheck))`
    SELECT campaign.id, campaign.workspace_id, campaign.name, campaign.status, pause_reason,
      preparation_status = 'READY' AS prepared, epoch, claimed_position,
      campaign.updated_at < now() - make_interval(secs => ${selection.settledSeconds}) AS settled,
      status = 'SCHEDULED' AND scheduled_at < now() - make_interval(secs => ${selection.settledSeconds}) AS overdue
    FROM campaign
    JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id
    WHERE status = ANY (${sql.array(openStatuses, 'text')}) AND ${isSelected(sql.fragment`campaign.id`, selection)}
    ORDER BY campaign.id
    ${limitOf(selection)}`);
}

const CampaignId = row(t.type({ id: t.string }));

/** Lists the ids of all campaigns, whatever their status. */
export function listCampaignIds(connection: Connection, selection: Selection): Promise<readonly string[]> {
  return connection.anyFirst(sql.type(CampaignId)`
    SELECT id FROM campaign WHERE ${isSelected(sql.fragment`id`, selection)} ORDER BY id ${limitOf(selection)}`);
}

const CampaignBooks = t.type({
  channel_id: t.string,
  status: oneOf(campaignStatuses),
  /** True if its recipients are deleted or being deleted: their count then means nothing. */
  archived: t.boolean,
  kept: t.record(t.string, t.number),
  counted: t.record(t.string, t.number),
  kept_reasons: t.record(t.string, t.number),
  counted_reasons: t.record(t.string, t.number),
  /** Micro-units reserved by the recipients. */
  owed: t.bigint,
  /** PENDING recipients up to the claimed position, and the campaign's retry entries: equal unless the campaign has ended. */
  waiting_behind: t.number,
  queued: t.number,
});
export type CampaignBooks = t.TypeOf<typeof CampaignBooks>;

/**
 * Reads the stored counters of a campaign and counts its recipients, in one statement and therefore of one instant. Reads every
 * recipient of the campaign. Null when the campaign is gone.
 */
export function readCampaignBooks(connection: Connection, campaignId: string): Promise<CampaignBooks | null> {
  return connection.maybeOne(sql.type(row(CampaignBooks))`
    WITH counted AS MATERIALIZED (
      SELECT state, reason, count(*)::int4 AS n,
        COALESCE(sum(price) FILTER (WHERE settlement = 'reserved'), 0)::bigint AS owed,
        count(*) FILTER (WHERE state = 'PENDING' AND position <= campaign_counter.claimed_position)::int4 AS behind
      FROM recipient JOIN campaign_counter USING (campaign_id)
      WHERE campaign_id = ${campaignId}
      GROUP BY state, reason
    )
    SELECT campaign.channel_id, campaign.status, archived_at IS NOT NULL AS archived,
      to_jsonb(campaign_counter) - 'campaign_id' - 'claimed_position' - 'charged' AS kept,
      COALESCE((SELECT jsonb_object_agg(state, n) FROM (
        SELECT lower(state) AS state, sum(n) AS n FROM counted GROUP BY 1) AS states), '{}'::jsonb) AS counted,
      COALESCE((SELECT jsonb_object_agg(kind || ' ' || reason, count) FROM campaign_reason
        WHERE campaign_id = campaign.id), '{}'::jsonb) AS kept_reasons,
      COALESCE((SELECT jsonb_object_agg(reason, n) FROM (
        SELECT CASE state WHEN 'SKIPPED' THEN 'skipped ' ELSE 'failed ' END || reason AS reason, sum(n) AS n FROM counted
        WHERE reason IS NOT NULL AND state IN ('SKIPPED', 'FAILED', 'UNKNOWN') GROUP BY 1) AS reasons), '{}'::jsonb)
        AS counted_reasons,
      COALESCE((SELECT sum(owed) FROM counted), 0)::bigint AS owed,
      COALESCE((SELECT sum(behind) FROM counted), 0)::int4 AS waiting_behind,
      (SELECT count(*) FROM recipient_retry WHERE campaign_id = campaign.id)::int4 AS queued
    FROM campaign JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id
    WHERE campaign.id = ${campaignId}`);
}
