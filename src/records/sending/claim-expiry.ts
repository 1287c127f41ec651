/** Claims whose process died: their recipients become UNKNOWN after the grace period. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection, Database } from '../database/database.ts';
import { claimPatience } from '../database/lock-patience.ts';
import { nothing, row } from '../database/row.ts';

export interface Grace {
  readonly campaignId: string;
  readonly graceSeconds: number;
}

const Expired = row(t.type({ unknown: t.number }));
const Wait = row(t.type({ wait_ms: t.number }));

/**
 * Moves the recipients of claims older than the grace period to UNKNOWN; their reservations stay.
 * Returns how many there were. A receipt or a late result still settles them. Gives up as `isLockHeld` tells if another
 * transaction keeps one of the rows locked.
 */
export async function expireClaims(
  connection: Connection,
  { campaignId, graceSeconds }: Grace,
): Promise<number> {
  return connection.oneFirst(sql.type(Expired)`
    WITH patience AS MATERIALIZED (SELECT ${claimPatience} AS patience), old AS MATERIALIZED (
      SELECT id, first_position, last_position FROM campaign_claim CROSS JOIN patience
      WHERE campaign_id = ${campaignId} AND claimed_at < now() - make_interval(secs => ${graceSeconds})
    ), present AS (
      -- OFFSET 0 keeps the lookup by range of positions: without statistics a join would read the whole campaign.
      SELECT found.position FROM old CROSS JOIN LATERAL (
        SELECT position FROM recipient
        WHERE campaign_id = ${campaignId} AND position BETWEEN old.first_position AND old.last_position
          AND claim_id = old.id AND state = 'CLAIMED'
        ORDER BY position OFFSET 0 FOR UPDATE
      ) AS found
    ), updated AS (
      UPDATE recipient SET state = 'UNKNOWN', reason = 'OUTCOME_UNKNOWN',
        reason_detail = 'The process that was sending it ended before it knew the outcome', updated_at = now()
      WHERE campaign_id = ${campaignId} AND position = ANY(ARRAY(SELECT position FROM present))
      RETURNING 1
    ), total AS (
      SELECT count(*)::int AS unknown FROM updated
    ), counted AS (
      UPDATE campaign_counter SET claimed = claimed - total.unknown, unknown = campaign_counter.unknown + total.unknown
      FROM total WHERE campaign_id = ${campaignId} AND total.unknown > 0 RETURNING campaign_id
    ), explained AS (
      INSERT INTO campaign_reason (campaign_id, kind, reason, count)
      SELECT campaign_id, 'failed', 'OUTCOME_UNKNOWN', unknown FROM counted CROSS JOIN total
      ON CONFLICT (campaign_id, kind, reason) DO UPDATE SET count = campaign_reason.count + excluded.count
    ), closed AS (
      DELETE FROM campaign_claim USING old, total WHERE campaign_claim.id = old.id
    )
    SELECT unknown FROM total`);
}

/** Milliseconds until the oldest open claim expires; null if none is open. */
export async function nextClaimExpiry(
  connection: Connection,
  { campaignId, graceSeconds }: Grace,
): Promise<number | null> {
  return connection.maybeOneFirst(sql.type(Wait)`
    SELECT extract(epoch FROM min(claimed_at) - now() + make_interval(secs => ${graceSeconds}))::float8 * 1000 AS wait_ms
    FROM campaign_claim WHERE campaign_id = ${campaignId} HAVING count(*) > 0`);
}

/** Deletes the claims of a campaign without a CLAIMED recipient: status callbacks settled what a crash had left. */
export async function forgetClaims(connection: Connection, campaignId: string): Promise<void> {
  await connection.query(sql.type(nothing)`DELETE FROM campaign_claim WHERE campaign_id = ${campaignId}`);
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
