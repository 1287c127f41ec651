/** Sums of a workspace's campaigns over a time span, from their counters by minute. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { row } from '../database/row.ts';

export const overviewIntervals = ['day', 'hour'] as const;

const sums = { accepted: t.number, delivered: t.number, read: t.number, failed: t.number, charged: t.number };
const OverviewPoint = t.type({ at: t.string, ...sums });
const OverviewCampaign = t.type({ id: t.string, name: t.string, ...sums });
const Overview = t.type({ points: t.array(OverviewPoint), campaigns: t.array(OverviewCampaign) });
export type Overview = t.TypeOf<typeof Overview>;
export type OverviewSums = t.TypeOf<ReturnType<typeof t.type<typeof sums>>>;

export interface OverviewSpan {
  readonly from: Date;
  readonly to: Date;
  readonly interval: (typeof overviewIntervals)[number];
  /** Most campaigns in the list, which begins with those that had most messages accepted. */
  readonly limit: number;
}

const summed = sql.fragment`sum(accepted) AS accepted, sum(delivered) AS delivered, sum(read) AS read,
  sum(failed) AS failed, sum(charged) AS charged`;

/** Receipts arrive up to 30 days after a campaign has completed; campaigns completed earlier are not read. `charged`: micro-units. */
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
        SELECT date_trunc(${interval}, at, 'UTC') AS at, ${summed} FROM campaign_minute
        WHERE campaign_id = campaign.id AND at >= ${begin} AND at < ${end} GROUP BY 1
      ) AS minute
      WHERE workspace_id = ${workspaceId} AND created_at < ${end}
        AND (completed_at IS NULL OR completed_at >= ${begin}::timestamptz - interval '30 days')
    )
    SELECT
      (SELECT coalesce(jsonb_agg(point ORDER BY point.at), '[]') FROM (
        SELECT at, ${summed} FROM part GROUP BY at
      ) AS point) AS points,
      (SELECT coalesce(jsonb_agg(total ORDER BY total.accepted DESC, total.id DESC), '[]') FROM (
        SELECT id, name, ${summed} FROM part GROUP BY id, name ORDER BY accepted DESC, id DESC LIMIT ${limit}
      ) AS total) AS campaigns`);
}
