/** Messages that the provider has not delivered in time: their state stays, their money is given back. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import { settlements } from '../../domain/wallet/settlement.ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';

const DueCampaign = t.type({
  campaignId: t.string,
  ttlSeconds: t.number,
  /** Every recipient up to this position is looked at. */
  afterPosition: t.number,
  workspaceId: nullable(t.number),
  channelId: nullable(t.string),
  /** Recipients may still be sent to. */
  isOpen: t.boolean,
});
export type DueCampaign = t.TypeOf<typeof DueCampaign>;

/** Locks the campaign that is due first, unless another process looks at it, until the transaction ends. */
export async function lockDueCampaign(connection: Connection): Promise<DueCampaign | undefined> {
  const due = await connection.maybeOne(sql.type(row(DueCampaign))`
    WITH due AS MATERIALIZED (
      SELECT campaign_id, ttl_seconds, after_position FROM campaign_expiry WHERE due_at <= now()
      ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    SELECT campaign_id AS "campaignId", ttl_seconds AS "ttlSeconds", after_position AS "afterPosition",
      workspace_id AS "workspaceId", channel_id AS "channelId",
      (status IN ('SCHEDULED', 'RUNNING', 'PAUSED')) IS TRUE AS "isOpen"
    FROM due LEFT JOIN campaign ON campaign.id = campaign_id`);
  return due ?? undefined;
}

const LastPosition = row(
  t.type({ last: nullable(t.number), open: nullable(t.number), openUntil: nullable(timestamp) }),
);
const Undelivered = t.type({
  id: t.string,
  price: t.bigint,
  country: t.string,
  settlement: oneOf(settlements),
});

const UndeliveredRecipient = t.type({ ...Undelivered.props, position: t.number });

export interface DueRecipients {
  readonly recipients: readonly t.TypeOf<typeof UndeliveredRecipient>[];
  /** The last position that was looked at: everything up to it is settled for good. */
  readonly lastPosition: number;
  /** Undefined if the next positions can be looked at now. */
  readonly dueAt: Date | undefined;
  /** No recipient comes after the last position. */
  readonly isOver: boolean;
}

const day = sql.fragment`interval '24 hours'`;

/**
 * Locks those of the next `limit` recipients that are to be given back. Stops before the first one that may still be sent,
 * or delivered in time: recipients were accepted nearly in the order of their positions. Both bounds keep Postgres to the
 * index of positions, whatever its statistics are.
 */
export async function lockDueRecipients(
  connection: Connection,
  { campaignId, ttlSeconds, afterPosition, isOpen }: DueCampaign,
  limit: number,
): Promise<DueRecipients> {
  const wait = sql.fragment`make_interval(secs => ${ttlSeconds}) + ${day}`;
  const undelivered = sql.fragment`(
    (settlement = 'charged' AND state IN ('ACCEPTED', 'SENT')) OR (settlement = 'reserved' AND state = 'UNKNOWN'))`;
  const waitsUntil = sql.fragment`CASE
    WHEN ${undelivered} THEN COALESCE(accepted_at, sent_at, updated_at) + ${wait}
    WHEN state = 'CLAIMED' OR (state = 'PENDING' AND ${isOpen}) THEN now() + ${day} END`;
  const { last, open, openUntil } = await connection.one(sql.type(LastPosition)`
    WITH next AS MATERIALIZED (
      SELECT position, ${waitsUntil} AS until FROM recipient
      WHERE campaign_id = ${campaignId} AND position > ${afterPosition} AND position <= ${afterPosition + limit}
    ), open AS (
      SELECT position, until FROM next WHERE until > now() ORDER BY position LIMIT 1
    )
    SELECT (SELECT max(position) FROM next) AS last, open.position AS open, open.until AS "openUntil"
    FROM (SELECT) AS one LEFT JOIN open ON true`);
  const lastPosition = open === null ? (last ?? afterPosition) : open - 1;
  const recipients = await connection.any(sql.type(row(UndeliveredRecipient))`
    SELECT id, position, price, country, settlement FROM recipient
    WHERE campaign_id = ${campaignId} AND position > ${afterPosition} AND position <= ${lastPosition} AND ${undelivered}
      AND COALESCE(accepted_at, sent_at, updated_at) + ${wait} <= now()
    ORDER BY position FOR NO KEY UPDATE`);
  return { recipients, lastPosition, dueAt: openUntil ?? undefined, isOver: last === null };
}

export async function settleRecipients(
  connection: Connection,
  campaignId: string,
  positions: readonly number[],
): Promise<void> {
  if (positions.length === 0) return;
  await connection.query(sql.type(nothing)`
    UPDATE recipient SET settlement = CASE settlement WHEN 'charged' THEN 'refunded' ELSE 'none' END
    WHERE campaign_id = ${campaignId} AND position = ANY(${sql.array(positions, 'int4')})`);
}

/** Stores how far the campaign was looked at; `dueAt` undefined: the rest is due now. */
export async function advanceCampaign(
  connection: Connection,
  campaignId: string,
  { lastPosition, dueAt }: Pick<DueRecipients, 'lastPosition' | 'dueAt'>,
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE campaign_expiry SET after_position = ${lastPosition},
      due_at = COALESCE(${dueAt?.toISOString() ?? null}::timestamptz, due_at)
    WHERE campaign_id = ${campaignId}`);
}

export async function forgetCampaign(connection: Connection, campaignId: string): Promise<void> {
  await connection.query(sql.type(nothing)`DELETE FROM campaign_expiry WHERE campaign_id = ${campaignId}`);
}

const UndeliveredMessage = t.type({
  ...Undelivered.props,
  workspaceId: t.number,
  channelId: t.string,
  campaignId: nullable(t.string),
});

/** Locks messages outside campaigns that were not delivered in time, and marks them as given back. Returns them as they were. */
export const takeDueMessages = (connection: Connection, limit: number) =>
  connection.any(sql.type(row(UndeliveredMessage))`
    WITH due AS MATERIALIZED (
      SELECT id, settlement FROM message
      WHERE direction = 'outbound' AND settlement IN ('reserved', 'charged') AND state IN ('ACCEPTED', 'SENT', 'UNKNOWN')
        AND expires_at <= now()
      ORDER BY expires_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE message SET settlement = CASE due.settlement WHEN 'charged' THEN 'refunded' ELSE 'none' END
    FROM due WHERE message.id = due.id
    RETURNING message.id, price, country, due.settlement, workspace_id AS "workspaceId", channel_id AS "channelId",
      campaign_id AS "campaignId"`);
