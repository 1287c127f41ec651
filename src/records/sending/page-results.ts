/**
 * Recording a page: the outcomes of its messages, the money, the counters, in one statement and in the lock order of
 * docs/architecture.md. A status callback may have been faster than the answer to our request: what it settled stays.
 */
import { sql, type FragmentSqlToken } from 'slonik';
import type { Connection } from '../database/database.ts';
import { learnIdsOfRecipients } from '../callbacks/identities.ts';
import { nothing } from '../database/row.ts';

export type MessageOutcome =
  | {
      readonly kind: 'accepted';
      readonly providerMessageId: string;
      /** Further ids of the person, told by the answer. */
      readonly otherIds?: readonly string[];
    }
  | { readonly kind: 'failed'; readonly reason: string; readonly detail: string }
  | { readonly kind: 'unknown'; readonly detail: string }
  /** Surely not sent: back to PENDING, to be claimed again after `delayMs`. `attempted` counts it as an attempt. */
  | { readonly kind: 'released'; readonly delayMs: number; readonly attempted: boolean };

export interface PageResults {
  readonly campaignId: string;
  readonly channelId: string;
  readonly claimId: string;
  /** By position. */
  readonly outcomes: ReadonlyMap<number, MessageOutcome>;
  /** The page has no more outcomes to come: its claim is closed. */
  readonly final: boolean;
}

/**
 * Idempotent: outcomes recorded twice change nothing the second time. One statement, so that all of it is true or none, and
 * so that the wallet and the counter are held for no round trip.
 */
export async function recordPage(database: Connection, results: PageResults): Promise<void> {
  const { campaignId, claimId, outcomes } = results;
  await database.query(
    outcomes.size > 0
      ? recordStatement(results)
      : sql.type(nothing)`DELETE FROM campaign_claim WHERE id = ${claimId} AND ${results.final}`,
  );
  const told = [...outcomes].flatMap(([position, outcome]) =>
    outcome.kind === 'accepted'
      ? (outcome.otherIds ?? []).map((providerId) => ({ position, providerId }))
      : [],
  );
  // In a statement of its own, so that nobody who holds a person waits for money. What is lost here the receipts teach again.
  if (told.length > 0) await learnIdsOfRecipients(database, campaignId, told).catch(() => undefined);
}

/** What `result` brings to the row as it stood: one that was settled meanwhile, by a receipt, stays as it is. */
const isOpen = (standing: FragmentSqlToken) => sql.fragment`
  (${standing}.state = 'CLAIMED' OR (${standing}.state = 'UNKNOWN' AND result.state IN ('ACCEPTED', 'FAILED')))`;

/** Each part that locks rows reads from the one before it: they are taken in the order of docs/architecture.md. */
function recordStatement({ campaignId, channelId, claimId, outcomes, final }: PageResults) {
  const rows = [...outcomes]
    .toSorted(([a], [b]) => a - b)
    .map(([position, outcome]) => resultRow(position, outcome));
  const open = isOpen(sql.fragment`recipient`);
  return sql.type(nothing)`
    WITH updated AS (
      UPDATE recipient SET
        state = CASE WHEN ${open} THEN result.state ELSE recipient.state END,
        reason = CASE WHEN ${open} THEN result.reason ELSE recipient.reason END,
        reason_detail = CASE WHEN ${open} THEN result.detail ELSE recipient.reason_detail END,
        settlement = CASE
          WHEN recipient.settlement <> 'reserved' OR NOT ${open} THEN recipient.settlement
          WHEN result.state = 'ACCEPTED' THEN 'charged'
          WHEN result.state = 'UNKNOWN' THEN 'reserved'
          ELSE 'none' END,
        provider_message_id = COALESCE(recipient.provider_message_id, result.pmid),
        claim_id = CASE WHEN ${open} AND result.state = 'PENDING' THEN NULL ELSE recipient.claim_id END,
        accepted_at = CASE WHEN ${open} AND result.state = 'ACCEPTED' THEN now() ELSE recipient.accepted_at END,
        attempts = recipient.attempts - CASE WHEN ${open} AND result.attempted = false THEN 1 ELSE 0 END,
        updated_at = now()
      -- In the order of the positions, so that the rows are locked in it.
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        AS result (position int, state text, reason text, detail text, pmid text, delay_ms float8, attempted boolean)
      WHERE recipient.campaign_id = ${campaignId} AND recipient.position = result.position
        AND recipient.claim_id = ${claimId}
      RETURNING recipient.id, recipient.position, old.state AS old_state, new.state AS new_state,
        ${isOpen(sql.fragment`old`)} AS open, recipient.price, old.settlement AS old_settlement,
        new.settlement AS new_settlement, result.pmid, result.delay_ms, new.reason
    ), total AS (
      SELECT
        count(*) FILTER (WHERE open AND old_state = 'CLAIMED')::int AS was_claimed,
        count(*) FILTER (WHERE open AND old_state = 'UNKNOWN')::int AS was_unknown,
        count(*) FILTER (WHERE open AND new_state = 'ACCEPTED')::int AS accepted,
        count(*) FILTER (WHERE open AND new_state = 'FAILED')::int AS failed,
        count(*) FILTER (WHERE open AND new_state = 'UNKNOWN')::int AS unknown,
        count(*) FILTER (WHERE open AND new_state = 'PENDING')::int AS released,
        COALESCE(sum(price) FILTER (WHERE old_settlement = 'reserved' AND new_settlement = 'charged'), 0)::bigint AS charged,
        COALESCE(sum(price) FILTER (WHERE old_settlement = 'reserved' AND new_settlement = 'none'), 0)::bigint AS freed
      FROM updated
    ), identified AS (
      INSERT INTO provider_message (hash, recipient_id)
      SELECT hashtextextended(pmid, 0), id FROM updated WHERE pmid IS NOT NULL
    ), delayed AS (
      INSERT INTO recipient_retry (campaign_id, position, not_before)
      SELECT ${campaignId}::uuid, position, now() + make_interval(secs => COALESCE(delay_ms, 0) / 1000)
      FROM updated WHERE open AND new_state = 'PENDING'
      ON CONFLICT (campaign_id, position) DO NOTHING
    ), purse AS (
      UPDATE wallet SET reserved = reserved - total.charged - total.freed, balance = balance - total.charged,
        updated_at = now()
      FROM total WHERE wallet.channel_id = ${channelId} AND total.charged + total.freed > 0
      RETURNING wallet.channel_id, wallet.workspace_id, total.charged, total.accepted
    ), charge AS (
      INSERT INTO ledger_entry (channel_id, workspace_id, kind, amount, campaign_id, claim_id, message_count)
      SELECT channel_id, workspace_id, 'charge', -charged, ${campaignId}, ${claimId}, accepted
      FROM purse WHERE charged > 0
    ), counted AS (
      UPDATE campaign_counter SET
        claimed = claimed - total.was_claimed,
        unknown = campaign_counter.unknown - total.was_unknown + total.unknown,
        accepted = campaign_counter.accepted + total.accepted,
        failed = campaign_counter.failed + total.failed,
        pending = pending + total.released
      FROM total CROSS JOIN (SELECT count(*) FROM purse) AS settled
      WHERE campaign_id = ${campaignId} AND total.was_claimed + total.was_unknown > 0
      RETURNING campaign_id
    ), explained AS (
      INSERT INTO campaign_reason (campaign_id, kind, reason, count)
      SELECT counted.campaign_id, 'failed', change.reason, sum(change.by) FROM counted CROSS JOIN (
        SELECT reason, 1 AS by FROM updated WHERE open AND new_state IN ('FAILED', 'UNKNOWN')
        UNION ALL
        SELECT 'OUTCOME_UNKNOWN', -1 FROM updated WHERE open AND old_state = 'UNKNOWN'
      ) AS change
      GROUP BY counted.campaign_id, change.reason ORDER BY change.reason
      ON CONFLICT (campaign_id, kind, reason) DO UPDATE SET count = campaign_reason.count + excluded.count
    ), timed AS (
      INSERT INTO campaign_minute (campaign_id, at, accepted, failed)
      SELECT counted.campaign_id, date_trunc('minute', now()), total.accepted, total.failed FROM counted CROSS JOIN total
      WHERE total.accepted + total.failed > 0
      ON CONFLICT (campaign_id, at) DO UPDATE SET accepted = campaign_minute.accepted + excluded.accepted,
        failed = campaign_minute.failed + excluded.failed
    )
    DELETE FROM campaign_claim USING (SELECT count(*) FROM counted) AS written
    WHERE campaign_claim.id = ${claimId} AND ${final}`;
}

function resultRow(position: number, outcome: MessageOutcome) {
  switch (outcome.kind) {
    case 'accepted':
      return { position, state: 'ACCEPTED', pmid: outcome.providerMessageId };
    case 'failed':
      return { position, state: 'FAILED', reason: outcome.reason, detail: outcome.detail };
    case 'unknown':
      return { position, state: 'UNKNOWN', reason: 'OUTCOME_UNKNOWN', detail: outcome.detail };
    case 'released':
      return { position, state: 'PENDING', delay_ms: outcome.delayMs, attempted: outcome.attempted };
  }
}
