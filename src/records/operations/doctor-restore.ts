/**
 * Repairs after a restore of Postgres: recipients that may have been sent to since the backup become UNKNOWN, and events
 * that may have been delivered since are delivered again only on request.
 */
import { priceIn } from '../wallet/wallets.ts';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import { campaignStatuses, isFinished } from '../../domain/campaigns/campaign.ts';
import type { Connection, Database } from '../database/database.ts';
import type { Batch } from './doctor-campaigns.ts';
import { countUnknown } from '../sending/claim-expiry.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';

const RestoredCampaign = t.type({
  id: t.string,
  workspace_id: t.number,
  status: oneOf(campaignStatuses),
  prepared: t.boolean,
  started: t.boolean,
  scheduled_at: nullable(timestamp),
  claimed_position: t.number,
  messages_per_second: t.number,
  template_category: t.string,
  channel_id: t.string,
  last_position: t.number,
  /** PENDING recipients: only they could be sent to again. */
  pending: t.number,
  /** The position that an earlier repair for this backup stored; null when there was none. */
  up_to_position: nullable(t.number),
});
export type RestoredCampaignRow = t.TypeOf<typeof RestoredCampaign>;

const finished = campaignStatuses.filter(isFinished);

/**
 * Lists campaigns that could send, or begin to send, after the backup. One created after `backupAt` is in the backup too, because
 * that time may be given too early; only one created after the stop is new.
 */
export function listRestoredCampaigns(
  connection: Connection,
  { backupAt, stoppedAt, afterId, limit }: Batch & { readonly backupAt: Date; readonly stoppedAt: Date },
): Promise<readonly RestoredCampaignRow[]> {
  return connection.any(sql.type(row(RestoredCampaign))`
    SELECT campaign.id, campaign.workspace_id, campaign.status, preparation_status = 'READY' AS prepared,
      started_at IS NOT NULL AS started, scheduled_at, claimed_position, messages_per_second,
      template.category AS template_category, campaign.channel_id, total_contacts + total_contacts_skipped AS last_position, pending,
      up_to_position
    FROM campaign
    JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id
    JOIN channel ON channel.id = campaign.channel_id
    JOIN template ON template.id = campaign.template_id
    LEFT JOIN campaign_restore ON campaign_restore.campaign_id = campaign.id
      AND campaign_restore.backup_at = ${backupAt.toISOString()} AND campaign_restore.stopped_at >= ${stoppedAt.toISOString()}
    WHERE campaign.status <> ALL (${sql.array(finished, 'text')}) AND campaign.created_at <= ${stoppedAt.toISOString()}
      AND (${afterId}::uuid IS NULL OR campaign.id > ${afterId}::uuid)
    ORDER BY campaign.id LIMIT ${limit}`);
}

export interface Settlement {
  readonly campaignId: string;
  readonly backupAt: Date;
  readonly stoppedAt: Date;
  readonly upToPosition: number;
  /** Micro-units by recipient country; '' is every other country. */
  readonly prices: ReadonlyMap<string, bigint>;
}

const pageSize = 10_000;
const Page = row(t.type({ unknown: t.number }));
const Position = row(t.type({ up_to_position: t.number }));

/**
 * Moves every PENDING recipient up to `upToPosition` to UNKNOWN, batch by batch. The position is stored first: a repair that is
 * stopped and repeated moves no recipient beyond it, unless it is repeated with a later stop. Stores the price without a
 * reservation: a receipt charges it.
 */
export async function markMaybeSent(database: Database, settlement: Settlement): Promise<number> {
  const { campaignId, backupAt, stoppedAt, upToPosition } = settlement;
  const upTo = await database.oneFirst(sql.type(Position)`
    INSERT INTO campaign_restore AS noted (campaign_id, backup_at, stopped_at, up_to_position, recipients)
    VALUES (${campaignId}, ${backupAt.toISOString()}, ${stoppedAt.toISOString()}, ${upToPosition}, 0)
    ON CONFLICT (campaign_id, backup_at) DO UPDATE SET stopped_at = greatest(noted.stopped_at, excluded.stopped_at),
      up_to_position = CASE WHEN excluded.stopped_at > noted.stopped_at
        THEN greatest(noted.up_to_position, excluded.up_to_position) ELSE noted.up_to_position END
    RETURNING up_to_position`);
  let marked = 0;
  for (let after = 0; after < upTo; after += pageSize) {
    marked += await markPage(database, { ...settlement, after, last: Math.min(upTo, after + pageSize) });
  }
  return marked;
}

function markPage(
  database: Database,
  page: Settlement & { readonly after: number; readonly last: number },
): Promise<number> {
  const { campaignId, backupAt, stoppedAt, prices, after, last } = page;
  const detail = `May have been sent between ${backupAt.toISOString()} and ${stoppedAt.toISOString()}, of which no record is left`;
  return database.transaction(async (transaction) => {
    // Locks the counters first, in the order in which a claim takes its locks.
    await transaction.query(sql.type(nothing)`
      SELECT FROM campaign_counter WHERE campaign_id = ${campaignId} FOR UPDATE`);
    const unknown = await transaction.oneFirst(sql.type(Page)`
      WITH updated AS (
        UPDATE recipient SET state = 'UNKNOWN', reason = 'OUTCOME_UNKNOWN', reason_detail = ${detail}, updated_at = now(),
          price = ${priceIn(prices, sql.fragment`country`)}
        WHERE campaign_id = ${campaignId} AND position > ${after} AND position <= ${last} AND state = 'PENDING'
        RETURNING position
      ), unqueued AS (
        DELETE FROM recipient_retry USING updated
        WHERE recipient_retry.campaign_id = ${campaignId} AND recipient_retry.position = updated.position
      ), moved AS (
        UPDATE campaign_counter SET claimed_position = greatest(claimed_position, ${last}),
          pending = pending - (SELECT count(*) FROM updated), unknown = unknown + (SELECT count(*) FROM updated)
        WHERE campaign_id = ${campaignId}
      ), noted AS (
        UPDATE campaign_restore SET recipients = recipients + (SELECT count(*) FROM updated)
        WHERE campaign_id = ${campaignId} AND backup_at = ${backupAt.toISOString()}
      )
      SELECT count(*)::int4 AS unknown FROM updated`);
    if (unknown > 0) await countUnknown(transaction, { campaignId, count: unknown });
    return unknown;
  });
}

const Count = row(t.type({ count: t.number }));

/** Counts events from before the stop that were not fanned out by the backup; deliveries created since are lost. */
export function countWaitingEvents(connection: Connection, stoppedAt: Date): Promise<number> {
  return connection.oneFirst(sql.type(Count)`
    SELECT count(*)::int4 AS count FROM event
    WHERE fanned_out_at IS NULL AND occurred_at <= ${stoppedAt.toISOString()}`);
}

/**
 * Writes deliveries of the next of these events as `interrupted`: they may have been sent, so they are sent again only on request.
 * Returns the number of events; 0 when none is left.
 */
export async function interruptWaitingEvents(
  connection: Connection,
  { stoppedAt, limit }: { readonly stoppedAt: Date; readonly limit: number },
): Promise<number> {
  const { rowCount } = await connection.query(sql.type(nothing)`
    WITH waiting AS (
      SELECT id, workspace_id, key FROM event
      WHERE fanned_out_at IS NULL AND occurred_at <= ${stoppedAt.toISOString()}
      ORDER BY id LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ), made AS (
      INSERT INTO webhook_delivery (workspace_id, webhook_id, event_id, event_key, state, error_code)
      SELECT waiting.workspace_id, webhook_configuration.id, waiting.id, waiting.key, 'failed', 'interrupted'
      FROM waiting
      JOIN webhook_configuration
        ON webhook_configuration.workspace_id = waiting.workspace_id
       AND webhook_configuration.status = 'active'
       AND waiting.key = ANY (webhook_configuration.events)
    )
    UPDATE event SET fanned_out_at = now() WHERE id = ANY (ARRAY(SELECT id FROM waiting))`);
  return rowCount;
}

const OpenId = row(t.type({ id: t.string }));

/** Lists, by id, a batch of deliveries from before the stop that have no outcome. */
export function listOpenDeliveries(
  connection: Connection,
  { stoppedAt, afterId, limit }: Batch & { readonly stoppedAt: Date },
): Promise<readonly string[]> {
  return connection.anyFirst(sql.type(OpenId)`
    SELECT id FROM (
      -- Each of the two SELECTs uses a partial index of its own.
      SELECT id, created_at FROM webhook_delivery WHERE state = 'pending' AND dispatched_at IS NULL
      UNION ALL
      SELECT id, created_at FROM webhook_delivery WHERE state IN ('pending', 'sending') AND dispatched_at IS NOT NULL
    ) AS open
    WHERE created_at <= ${stoppedAt.toISOString()} AND (${afterId}::uuid IS NULL OR id > ${afterId}::uuid)
    ORDER BY id LIMIT ${limit}`);
}

/** Copies the outcome of a delivery from its workflow to its record, unless the record has one. */
export async function recordWorkflowOutcome(
  connection: Connection,
  { id, errorCode }: { readonly id: string; readonly errorCode: string | null },
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE webhook_delivery SET state = CASE WHEN ${errorCode}::text IS NULL THEN 'delivered' ELSE 'failed' END,
      error_code = ${errorCode}::text, sending_until = NULL
    WHERE id = ${id} AND state IN ('pending', 'sending')`);
}
