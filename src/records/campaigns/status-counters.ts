/** The counters and reasons of campaigns, updated once for a whole batch of recipients. */
import * as t from 'io-ts';
import { sql } from 'slonik';
import type { Connection } from '../database/database.ts';
import { nothing } from '../database/row.ts';

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
