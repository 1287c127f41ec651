/** The counters and reasons of campaigns, updated once for a whole batch of recipients. */
import * as t from 'io-ts';
import { sql } from 'slonik';
import { notFound } from '../../domain/error.ts';
import type { Connection } from '../database/database.ts';
import { nothing, row } from '../database/row.ts';

/** Recipients by their current state, as in a row of `campaign_counter`. */
export const counterFields = {
  pending: t.number,
  claimed: t.number,
  accepted: t.number,
  sent: t.number,
  delivered: t.number,
  read: t.number,
  failed: t.number,
  unknown: t.number,
  cancelled: t.number,
  skipped: t.number,
};

export const counterColumns = sql.fragment`
  pending, claimed, accepted, sent, delivered, read, failed, unknown, cancelled, skipped`;

export const countedStates = [
  'pending',
  'claimed',
  'accepted',
  'sent',
  'delivered',
  'read',
  'failed',
  'unknown',
] as const;
export type CountedState = (typeof countedStates)[number];

export const noStateMoves: Readonly<Record<CountedState, number>> = {
  pending: 0,
  claimed: 0,
  accepted: 0,
  sent: 0,
  delivered: 0,
  read: 0,
  failed: 0,
  unknown: 0,
};

export interface CounterMove {
  readonly campaignId: string;
  /** Change of the number of recipients in each state. */
  readonly by: Readonly<Record<CountedState, number>>;
  /** Micro-units; negative if money was returned. */
  readonly charged: bigint;
}

/** Locks the counters in the order of their campaigns. */
export async function moveCounters(connection: Connection, moves: readonly CounterMove[]): Promise<void> {
  if (moves.length === 0) return;
  const rows = moves.map(({ campaignId, by, charged }) => [
    campaignId,
    ...countedStates.map((state) => by[state]),
    charged,
  ]);
  await connection.query(sql.type(nothing)`
    WITH move (campaign_id, pending, claimed, accepted, sent, delivered, read, failed, unknown, charged) AS MATERIALIZED (
      SELECT * FROM ${sql.unnest(rows, ['uuid', ...countedStates.map(() => 'int4'), 'int8'])} AS listed
    ), locked AS MATERIALIZED (
      SELECT campaign_id FROM campaign_counter WHERE campaign_id IN (SELECT campaign_id FROM move)
      ORDER BY campaign_id FOR NO KEY UPDATE
    )
    UPDATE campaign_counter SET
      pending = campaign_counter.pending + move.pending,
      claimed = campaign_counter.claimed + move.claimed,
      accepted = campaign_counter.accepted + move.accepted,
      sent = campaign_counter.sent + move.sent,
      delivered = campaign_counter.delivered + move.delivered,
      read = campaign_counter.read + move.read,
      failed = campaign_counter.failed + move.failed,
      unknown = campaign_counter.unknown + move.unknown,
      charged = campaign_counter.charged + move.charged
    FROM move JOIN locked USING (campaign_id)
    WHERE campaign_counter.campaign_id = move.campaign_id`);
}

export interface ReasonMove {
  readonly campaignId: string;
  readonly reason: string;
  readonly by: number;
}

/** Adds to the counts of failed recipients by reason; negative numbers take away. */
export async function moveFailedReasons(connection: Connection, moves: readonly ReasonMove[]): Promise<void> {
  if (moves.length === 0) return;
  const rows = moves.map(({ campaignId, reason, by }) => [campaignId, reason, by]);
  await connection.query(sql.type(nothing)`
    INSERT INTO campaign_reason (campaign_id, kind, reason, count)
    SELECT move.campaign_id, 'failed', move.reason, move.by
    FROM ${sql.unnest(rows, ['uuid', 'text', 'int4'])} AS move (campaign_id, reason, by)
    ORDER BY move.campaign_id, move.reason
    ON CONFLICT (campaign_id, kind, reason) DO UPDATE SET count = campaign_reason.count + excluded.count`);
}

// Counters of a campaign by minute: added to when its recipients change state, read for its timeline.

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

/** Adds to the counts of the current minute, and notes, once an hour, that the campaigns' templates are delivered. Call it after the counters are locked: docs/architecture.md gives the lock order. */
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
    WITH given AS MATERIALIZED (
      SELECT * FROM ${sql.unnest(rows, ['uuid', 'int4', 'int4', 'int4', 'int4', 'int8'])}
        AS listed (campaign_id, accepted, delivered, read, failed, charged)
    ), noted AS (
      INSERT INTO template_delivery (template_id, delivered_at)
      SELECT DISTINCT template_id, now() FROM given CROSS JOIN LATERAL (
        SELECT template_id FROM campaign WHERE campaign.id = given.campaign_id OFFSET 0) AS its
      WHERE delivered > 0 AND NOT EXISTS (SELECT FROM template_delivery AS known
        WHERE known.template_id = its.template_id AND known.delivered_at > now() - interval '1 hour')
      ORDER BY template_id
      ON CONFLICT (template_id) DO UPDATE SET delivered_at = excluded.delivered_at
    )
    INSERT INTO campaign_minute (campaign_id, at, accepted, delivered, read, failed, charged)
    SELECT campaign_id, date_trunc('minute', clock_timestamp()), accepted, delivered, read, failed, charged FROM given
    ORDER BY campaign_id
    ON CONFLICT (campaign_id, at) DO UPDATE SET accepted = campaign_minute.accepted + excluded.accepted,
      delivered = campaign_minute.delivered + excluded.delivered, read = campaign_minute.read + excluded.read,
      failed = campaign_minute.failed + excluded.failed, charged = campaign_minute.charged + excluded.charged`);
}

/** What recipients of a campaign got back, in micro-units, and how many more of them were messaged free of charge. */
export interface MoneyMove {
  readonly campaignId: string;
  readonly givenBack: bigint;
  readonly free: number;
}

/** Call it after the counters are locked: docs/architecture.md gives the lock order. */
export async function addToCampaignMoney(connection: Connection, moves: readonly MoneyMove[]): Promise<void> {
  const rows = moves
    .filter(({ givenBack, free }) => givenBack !== 0n || free !== 0)
    .map(({ campaignId, givenBack, free }) => [campaignId, givenBack, free]);
  if (rows.length === 0) return;
  await connection.query(sql.type(nothing)`
    INSERT INTO campaign_money (campaign_id, given_back, free_messages)
    SELECT campaign_id, sum(given_back), sum(free) FROM ${sql.unnest(rows, ['uuid', 'int8', 'int4'])} AS given (campaign_id, given_back, free)
    GROUP BY campaign_id ORDER BY campaign_id
    ON CONFLICT (campaign_id) DO UPDATE SET given_back = campaign_money.given_back + excluded.given_back,
      free_messages = campaign_money.free_messages + excluded.free_messages`);
}
