/** Finds campaigns in all workspaces, for operators. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nullable, row, timestamp } from '../database/row.ts';

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

export interface CampaignSearch {
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
