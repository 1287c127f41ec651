/** Counters of a campaign by minute: added to when its recipients change state, read for its timeline. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { notFound } from '../../domain/error.ts';
import type { Connection } from '../database/database.ts';
import { nothing, row } from '../database/row.ts';

export const timelineIntervals = ['minute', 'hour'] as const;
type TimelineInterval = (typeof timelineIntervals)[number];

const Timeline = row(t.type({ parts: t.string }));

/**
 * Returns the latest `limit` intervals, oldest first, as the text of a JSON array: parsing up to 1,440 of them here would be
 * wasted. Intervals without changes are left out. Throws NotFound, also for a campaign of another workspace.
 */
export async function listTimeline(
  connection: Connection,
  { workspaceId, campaignId }: { readonly workspaceId: number; readonly campaignId: string },
  { interval, limit }: { readonly interval: TimelineInterval; readonly limit: number },
): Promise<string> {
  // Each row is one minute already: grouping would take as long as formatting them.
  const rows =
    interval === 'minute'
      ? sql.fragment`SELECT at, accepted, delivered, read, failed FROM campaign_minute WHERE campaign_id = campaign.id`
      : sql.fragment`SELECT date_trunc('hour', at, 'UTC') AS at, sum(accepted) AS accepted, sum(delivered) AS delivered,
          sum(read) AS read, sum(failed) AS failed FROM campaign_minute WHERE campaign_id = campaign.id GROUP BY 1`;
  const parts = await connection.maybeOneFirst(sql.type(Timeline)`
    SELECT coalesce((
      SELECT '[' || string_agg(format('{"at":"%s","accepted":%s,"delivered":%s,"read":%s,"failed":%s}',
        to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), accepted, delivered, read, failed), ',' ORDER BY at) || ']'
      FROM (${rows} ORDER BY at DESC LIMIT ${limit}) AS part
    ), '[]') AS parts
    FROM campaign WHERE workspace_id = ${workspaceId} AND id = ${campaignId}`);
  return parts ?? notFound('Campaign');
}

export interface MinuteCount {
  readonly campaignId: string;
  readonly accepted: number;
  readonly delivered: number;
  readonly read: number;
  readonly failed: number;
  /** Micro-units; negative when more was refunded than charged. */
  readonly charged: bigint;
}

/** Adds to the counts of the current minute. Call it after the counters are locked: docs/architecture.md gives the lock order. */
export async function addToMinute(connection: Connection, counts: readonly MinuteCount[]): Promise<void> {
  const rows = counts
    .filter(
      ({ accepted, delivered, read, failed, charged }) =>
        accepted + delivered + read + failed > 0 || charged !== 0n,
    )
    .map(({ campaignId, accepted, delivered, read, failed, charged }) => [
      campaignId,
      accepted,
      delivered,
      read,
      failed,
      charged,
    ]);
  if (rows.length === 0) return;
  await connection.query(sql.type(nothing)`
    INSERT INTO campaign_minute (campaign_id, at, accepted, delivered, read, failed, charged)
    SELECT campaign_id, date_trunc('minute', clock_timestamp()), accepted, delivered, read, failed, charged
    FROM ${sql.unnest(rows, ['uuid', 'int4', 'int4', 'int4', 'int4', 'int8'])}
      AS given (campaign_id, accepted, delivered, read, failed, charged)
    ORDER BY campaign_id
    ON CONFLICT (campaign_id, at) DO UPDATE SET accepted = campaign_minute.accepted + excluded.accepted,
      delivered = campaign_minute.delivered + excluded.delivered, read = campaign_minute.read + excluded.read,
      failed = campaign_minute.failed + excluded.failed, charged = campaign_minute.charged + excluded.charged`);
}
