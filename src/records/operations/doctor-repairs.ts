/** Repairs of a campaign's counters, retry queue and claims. Each is safe to repeat and to run beside live traffic. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection, Database } from '../database/database.ts';
import { nothing, row } from '../database/row.ts';

/**
 * Recounts the recipients under a lock on the counters. Every change of a recipient's state updates the counters in the same
 * transaction, so the recount sees all earlier changes, and later ones add to it.
 */
export async function recountCampaign(database: Database, campaignId: string): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction.query(sql.type(nothing)`
      SELECT FROM campaign_counter WHERE campaign_id = ${campaignId} FOR UPDATE`);
    await transaction.query(sql.type(nothing)`
      UPDATE campaign_counter SET pending = counted.pending, claimed = counted.claimed, accepted = counted.accepted,
        sent = counted.sent, delivered = counted.delivered, read = counted.read, failed = counted.failed,
        unknown = counted.unknown, cancelled = counted.cancelled, skipped = counted.skipped
      FROM (
        SELECT count(*) FILTER (WHERE state = 'PENDING') AS pending, count(*) FILTER (WHERE state = 'CLAIMED') AS claimed,
          count(*) FILTER (WHERE state = 'ACCEPTED') AS accepted, count(*) FILTER (WHERE state = 'SENT') AS sent,
          count(*) FILTER (WHERE state = 'DELIVERED') AS delivered, count(*) FILTER (WHERE state = 'READ') AS read,
          count(*) FILTER (WHERE state = 'FAILED') AS failed, count(*) FILTER (WHERE state = 'UNKNOWN') AS unknown,
          count(*) FILTER (WHERE state = 'CANCELLED') AS cancelled, count(*) FILTER (WHERE state = 'SKIPPED') AS skipped
        FROM recipient WHERE campaign_id = ${campaignId}
      ) AS counted
      WHERE campaign_id = ${campaignId}`);
    await transaction.query(sql.type(nothing)`DELETE FROM campaign_reason WHERE campaign_id = ${campaignId}`);
    await transaction.query(sql.type(nothing)`
      INSERT INTO campaign_reason (campaign_id, kind, reason, count)
      SELECT ${campaignId}, CASE state WHEN 'SKIPPED' THEN 'skipped' ELSE 'failed' END, reason, count(*)
      FROM recipient
      WHERE campaign_id = ${campaignId} AND reason IS NOT NULL AND state IN ('SKIPPED', 'FAILED', 'UNKNOWN')
      GROUP BY 2, 3`);
  });
}

/** Adds PENDING recipients up to the claimed position to the retry queue, and removes recipients that are not PENDING. */
export async function requeueStranded(database: Database, campaignId: string): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction.query(sql.type(nothing)`
      SELECT FROM campaign_counter WHERE campaign_id = ${campaignId} FOR UPDATE`);
    await transaction.query(sql.type(nothing)`
      DELETE FROM recipient_retry USING recipient
      WHERE recipient_retry.campaign_id = ${campaignId} AND recipient.campaign_id = ${campaignId}
        AND recipient.position = recipient_retry.position AND recipient.state <> 'PENDING'`);
    await transaction.query(sql.type(nothing)`
      INSERT INTO recipient_retry (campaign_id, position, not_before)
      SELECT recipient.campaign_id, position, now()
      FROM recipient JOIN campaign_counter USING (campaign_id)
      WHERE recipient.campaign_id = ${campaignId} AND state = 'PENDING' AND position <= claimed_position
      ON CONFLICT (campaign_id, position) DO NOTHING`);
  });
}

const Count = row(t.type({ count: t.number }));

/** Moves CLAIMED recipients without an open claim to UNKNOWN, as no process will record their outcome. Returns how many. */
export function giveUpUnclaimed(database: Database, campaignId: string): Promise<number> {
  return database.transaction(async (transaction) => {
    const count = await transaction.oneFirst(sql.type(Count)`
      WITH present AS (
        SELECT position FROM recipient
        WHERE campaign_id = ${campaignId} AND state = 'CLAIMED'
          AND NOT EXISTS (SELECT FROM campaign_claim WHERE campaign_claim.id = recipient.claim_id)
        ORDER BY position FOR UPDATE
      ), updated AS (
        UPDATE recipient SET state = 'UNKNOWN', reason = 'OUTCOME_UNKNOWN',
          reason_detail = 'Nobody was left to record the outcome', updated_at = now()
        WHERE campaign_id = ${campaignId} AND position = ANY(ARRAY(SELECT position FROM present))
        RETURNING 1
      ), moved AS (
        UPDATE campaign_counter SET claimed = claimed - (SELECT count(*) FROM updated),
          unknown = unknown + (SELECT count(*) FROM updated)
        WHERE campaign_id = ${campaignId}
      )
      SELECT count(*)::int4 AS count FROM updated`);
    if (count > 0) await countUnknown(transaction, { campaignId, count });
    return count;
  });
}

export async function countUnknown(
  transaction: Connection,
  { campaignId, count }: { readonly campaignId: string; readonly count: number },
): Promise<void> {
  await transaction.query(sql.type(nothing)`
    INSERT INTO campaign_reason (campaign_id, kind, reason, count)
    VALUES (${campaignId}, 'failed', 'OUTCOME_UNKNOWN', ${count})
    ON CONFLICT (campaign_id, kind, reason) DO UPDATE SET count = campaign_reason.count + excluded.count`);
}
