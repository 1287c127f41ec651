/** Reads campaigns for the doctor, in batches by id. No lock and no snapshot is held for longer than one statement. */
import * as t from 'io-ts';
import { type FragmentSqlToken, sql } from 'slonik';
import { oneOf } from '../../codecs/struct.ts';
import { campaignStatuses, openStatuses, pauseReasons } from '../../domain/campaigns/campaign.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row, timestamp } from '../database/row.ts';

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

const isSelected = (id: FragmentSqlToken, selection: Selection): FragmentSqlToken =>
  'ids' in selection
    ? sql.fragment`${id} = ANY (${sql.array([...selection.ids], 'uuid')})`
    : sql.fragment`(${selection.afterId}::uuid IS NULL OR ${id} > ${selection.afterId}::uuid)`;
const limitOf = (selection: Selection): FragmentSqlToken =>
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

const CampaignState = t.type({
  id: t.string,
  finished: t.boolean,
  settled: t.boolean,
  fingerprint: t.string,
});

/** Reads the campaigns that have a row; `settled`: nothing is claimed or was updated lately. Progress changes `fingerprint`. */
export function findCampaignStates(
  connection: Connection,
  {
    ids,
    finished,
    seconds,
  }: { readonly ids: readonly string[]; readonly finished: readonly string[]; readonly seconds: number },
) {
  return connection.any(sql.type(row(CampaignState))`
    SELECT id, status = ANY (${sql.array([...finished], 'text')}) AS finished,
      claimed = 0 AND updated_at < now() - make_interval(secs => ${seconds}) AS settled,
      status || ' ' || epoch || ' ' || pending AS fingerprint
    FROM campaign JOIN campaign_counter ON campaign_id = id
    WHERE id = ANY (${sql.array([...ids], 'uuid')})`);
}

// Finds campaigns in all workspaces, for operators.

const Found = t.type({
  id: t.string,
  workspace_id: t.number,
  name: t.string,
  status: t.string,
  pause_reason: nullable(t.string),
  scheduled_at: nullable(timestamp),
  /** The kind of its standstill, as in `campaign_standstill`; null while it progresses. */
  stands_still: nullable(t.string),
});

const mostFound = 100;

interface CampaignSearch {
  /** A part of the name; upper and lower case match. */
  readonly name: string | undefined;
  readonly workspaceId: number | undefined;
  readonly standingStill: boolean;
}

/** Returns at most the newest hundred. */
export function findCampaigns(connection: Connection, { name, workspaceId, standingStill }: CampaignSearch) {
  // Overdue campaigns are also found here, because `campaign_standstill` is written only while a worker runs.
  const kind = sql.fragment`COALESCE(campaign_standstill.kind, CASE
    WHEN status = 'SCHEDULED' AND scheduled_at < now() - interval '1 minute' THEN 'due' END)`;
  return connection.any(sql.type(row(Found))`
    SELECT campaign.id, workspace_id, name, status, pause_reason, scheduled_at, ${kind} AS stands_still
    FROM campaign LEFT JOIN campaign_standstill ON campaign_standstill.campaign_id = campaign.id
    WHERE (${name ?? null}::text IS NULL OR strpos(lower(name), lower(${name ?? null}::text)) > 0)
      AND (${workspaceId ?? null}::int4 IS NULL OR workspace_id = ${workspaceId ?? null}::int4)
      AND (NOT ${standingStill} OR ${kind} <> 'waiting')
    ORDER BY created_at DESC, campaign.id DESC LIMIT ${mostFound}`);
}
