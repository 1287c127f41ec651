/** Claims whose process died: after the grace period what they had claimed is said to be UNKNOWN. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nothing, row } from '../database/row.ts';
import { moveFailedReasons } from '../campaigns/status-counters.ts';

const Expired = row(t.type({ unknown: t.number }));
const OldClaim = row(t.type({ id: t.string, first_position: t.number, last_position: t.number }));
const Wait = row(t.type({ wait_ms: t.number }));

/**
 * Moves the recipients of claims older than the grace period to UNKNOWN; their reservations stay.
 * Returns how many there were. A receipt or a late result still settles them.
 */
export async function expireClaims(
  database: Connection,
  { campaignId, graceSeconds }: { readonly campaignId: string; readonly graceSeconds: number },
): Promise<number> {
  const old = await database.any(sql.type(OldClaim)`
    SELECT id, first_position, last_position FROM campaign_claim
    WHERE campaign_id = ${campaignId} AND claimed_at < now() - make_interval(secs => ${graceSeconds})
    ORDER BY claimed_at`);
  let unknown = 0;
  for (const claim of old) unknown += await expireClaim(database, campaignId, claim);
  return unknown;
}

async function expireClaim(
  database: Connection,
  campaignId: string,
  claim: { readonly id: string; readonly first_position: number; readonly last_position: number },
): Promise<number> {
  return database.transaction(async (transaction) => {
    const { unknown } = await transaction.one(sql.type(Expired)`
      WITH present AS (
        SELECT position FROM recipient
        WHERE campaign_id = ${campaignId} AND position BETWEEN ${claim.first_position} AND ${claim.last_position}
          AND claim_id = ${claim.id} AND state = 'CLAIMED'
        ORDER BY position FOR UPDATE
      ), updated AS (
        UPDATE recipient SET state = 'UNKNOWN', reason = 'OUTCOME_UNKNOWN',
          reason_detail = 'The process that was sending it ended before it knew the outcome', updated_at = now()
        FROM present WHERE recipient.campaign_id = ${campaignId} AND recipient.position = present.position
        RETURNING 1
      )
      SELECT count(*)::int AS unknown FROM updated`);
    await transaction.query(sql.type(nothing)`
      UPDATE campaign_counter SET claimed = claimed - ${unknown}, unknown = unknown + ${unknown}
      WHERE campaign_id = ${campaignId}`);
    if (unknown > 0) {
      await moveFailedReasons(transaction, [{ campaignId, reason: 'OUTCOME_UNKNOWN', by: unknown }]);
    }
    await transaction.query(sql.type(nothing)`DELETE FROM campaign_claim WHERE id = ${claim.id}`);
    return unknown;
  });
}

/** Milliseconds until the oldest open claim expires; null when none is open. */
export async function nextClaimExpiry(
  connection: Connection,
  { campaignId, graceSeconds }: { readonly campaignId: string; readonly graceSeconds: number },
): Promise<number | null> {
  const found = await connection.maybeOne(sql.type(Wait)`
    SELECT extract(epoch FROM min(claimed_at) - now() + make_interval(secs => ${graceSeconds}))::float8 * 1000 AS wait_ms
    FROM campaign_claim WHERE campaign_id = ${campaignId} HAVING count(*) > 0`);
  return found?.wait_ms ?? null;
}

/** Forgets the claims of a campaign in which nobody is CLAIMED any more: receipts settled what a crash had left. */
export async function forgetClaims(connection: Connection, campaignId: string): Promise<void> {
  await connection.query(sql.type(nothing)`DELETE FROM campaign_claim WHERE campaign_id = ${campaignId}`);
}
