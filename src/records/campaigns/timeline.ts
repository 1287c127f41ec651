/** What became of a campaign minute by minute. Counted where its recipients change, read here. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nothing, row, timestamp } from '../database/row.ts';

export const timelineIntervals = ['minute', 'hour'] as const;
type TimelineInterval = (typeof timelineIntervals)[number];

const TimelinePart = t.type({
  at: timestamp,
  accepted: t.number,
  delivered: t.number,
  read: t.number,
  failed: t.number,
});
export type TimelinePart = t.TypeOf<typeof TimelinePart>;

/** The latest ones, in order; parts in which nothing happened are left out. */
export async function listTimeline(
  connection: Connection,
  campaignId: string,
  { interval, limit }: { readonly interval: TimelineInterval; readonly limit: number },
): Promise<readonly TimelinePart[]> {
  const parts = await connection.any(sql.type(row(TimelinePart))`
    SELECT date_trunc(${interval}, at, 'UTC') AS at, sum(accepted)::int4 AS accepted, sum(delivered)::int4 AS delivered,
      sum(read)::int4 AS read, sum(failed)::int4 AS failed
    FROM campaign_minute WHERE campaign_id = ${campaignId}
    GROUP BY 1 ORDER BY 1 DESC LIMIT ${limit}`);
  return parts.toReversed();
}

export interface MinuteCount {
  readonly campaignId: string;
  readonly accepted: number;
  readonly delivered: number;
  readonly read: number;
  readonly failed: number;
}

/** Adds to the present minute. After the counters, in the order of docs/architecture.md. */
export async function addToMinute(connection: Connection, counts: readonly MinuteCount[]): Promise<void> {
  const rows = counts
    .filter(({ accepted, delivered, read, failed }) => accepted + delivered + read + failed > 0)
    .map(({ campaignId, accepted, delivered, read, failed }) => [
      campaignId,
      accepted,
      delivered,
      read,
      failed,
    ]);
  if (rows.length === 0) return;
  await connection.query(sql.type(nothing)`
    INSERT INTO campaign_minute (campaign_id, at, accepted, delivered, read, failed)
    SELECT campaign_id, date_trunc('minute', clock_timestamp()), accepted, delivered, read, failed
    FROM ${sql.unnest(rows, ['uuid', 'int4', 'int4', 'int4', 'int4'])}
      AS given (campaign_id, accepted, delivered, read, failed)
    ORDER BY campaign_id
    ON CONFLICT (campaign_id, at) DO UPDATE SET accepted = campaign_minute.accepted + excluded.accepted,
      delivered = campaign_minute.delivered + excluded.delivered, read = campaign_minute.read + excluded.read,
      failed = campaign_minute.failed + excluded.failed`);
}
