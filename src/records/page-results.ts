/**
 * Recording a page: the outcomes of its messages, the money, the counters, in one transaction and in the lock order of
 * docs/architecture.md. A status callback may have been faster than the answer to our request: what it settled stays.
 */
import { sql, type FragmentSqlToken } from 'slonik';
import * as t from 'io-ts';
import { postLedgerEntry } from './wallets.ts';
import type { Connection, Transaction } from './database.ts';
import { nothing, row } from './row.ts';
import { moveFailedReasons } from './status-counters.ts';

export type MessageOutcome =
  | { readonly kind: 'accepted'; readonly providerMessageId: string }
  | { readonly kind: 'failed'; readonly reason: string; readonly detail: string }
  | { readonly kind: 'unknown'; readonly detail: string }
  /** Surely not sent: back to PENDING, to be claimed again after `delayMs`. `attempted` counts it as an attempt. */
  | { readonly kind: 'released'; readonly delayMs: number; readonly attempted: boolean };

export interface PageResults {
  readonly workspaceId: number;
  readonly campaignId: string;
  readonly channelId: string;
  readonly claimId: string;
  /** By position. */
  readonly outcomes: ReadonlyMap<number, MessageOutcome>;
  /** The page has no more outcomes to come: its claim is closed. */
  readonly final: boolean;
}

const Moves = row(
  t.type({
    was_claimed: t.number,
    was_unknown: t.number,
    accepted: t.number,
    failed: t.number,
    unknown: t.number,
    released: t.number,
    charged: t.bigint,
    freed: t.bigint,
    reasons: t.record(t.string, t.number),
  }),
);

/** Idempotent: outcomes recorded twice change nothing the second time. */
export async function recordPage(database: Connection, results: PageResults): Promise<void> {
  await database.transaction(async (transaction) => {
    if (results.outcomes.size > 0) await recordOutcomes(transaction, results);
    if (results.final) {
      await transaction.query(sql.type(nothing)`DELETE FROM campaign_claim WHERE id = ${results.claimId}`);
    }
  });
}

async function recordOutcomes(transaction: Transaction, results: PageResults): Promise<void> {
  const moves = await transaction.one(recordStatement(results));
  await settleWallet(transaction, results, moves);
  await transaction.query(sql.type(nothing)`
      UPDATE campaign_counter SET
        claimed = claimed - ${moves.was_claimed},
        unknown = unknown - ${moves.was_unknown} + ${moves.unknown},
        accepted = accepted + ${moves.accepted},
        failed = failed + ${moves.failed},
        pending = pending + ${moves.released}
      WHERE campaign_id = ${results.campaignId}`);
  const reasons = Object.entries(moves.reasons);
  await moveFailedReasons(
    transaction,
    reasons.map(([reason, by]) => ({ campaignId: results.campaignId, reason, by })),
  );
}

async function settleWallet(
  transaction: Transaction,
  { campaignId, channelId, claimId }: PageResults,
  {
    charged,
    freed,
    accepted,
  }: { readonly charged: bigint; readonly freed: bigint; readonly accepted: number },
): Promise<void> {
  if (charged + freed > 0n) {
    await transaction.query(sql.type(nothing)`
      UPDATE wallet SET reserved = reserved - ${charged + freed}, updated_at = now() WHERE channel_id = ${channelId}`);
  }
  if (charged > 0n) {
    await postLedgerEntry(transaction, {
      channelId,
      kind: 'charge',
      amount: -charged,
      campaignId,
      claimId,
      messageCount: accepted,
    });
  }
}

/** What `result` brings to the row as it stood: one that was settled meanwhile, by a receipt, stays as it is. */
const isOpen = (standing: FragmentSqlToken) => sql.fragment`
  (${standing}.state = 'CLAIMED' OR (${standing}.state = 'UNKNOWN' AND result.state IN ('ACCEPTED', 'FAILED')))`;

function recordStatement({ campaignId, claimId, outcomes }: PageResults) {
  const rows = [...outcomes]
    .toSorted(([a], [b]) => a - b)
    .map(([position, outcome]) => resultRow(position, outcome));
  const open = isOpen(sql.fragment`recipient`);
  return sql.type(Moves)`
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
    ), identified AS (
      INSERT INTO provider_message (hash, recipient_id)
      SELECT hashtextextended(pmid, 0), id FROM updated WHERE pmid IS NOT NULL
    ), delayed AS (
      INSERT INTO recipient_retry (campaign_id, position, not_before)
      SELECT ${campaignId}::uuid, position, now() + make_interval(secs => COALESCE(delay_ms, 0) / 1000)
      FROM updated WHERE open AND new_state = 'PENDING'
      ON CONFLICT (campaign_id, position) DO NOTHING
    ), failed AS (
      SELECT reason, sum(change)::int AS count FROM (
        SELECT reason, 1 AS change FROM updated WHERE open AND new_state IN ('FAILED', 'UNKNOWN')
        UNION ALL
        SELECT 'OUTCOME_UNKNOWN', -1 FROM updated WHERE open AND old_state = 'UNKNOWN'
      ) AS changes GROUP BY reason
    )
    SELECT
      count(*) FILTER (WHERE open AND old_state = 'CLAIMED')::int AS was_claimed,
      count(*) FILTER (WHERE open AND old_state = 'UNKNOWN')::int AS was_unknown,
      count(*) FILTER (WHERE open AND new_state = 'ACCEPTED')::int AS accepted,
      count(*) FILTER (WHERE open AND new_state = 'FAILED')::int AS failed,
      count(*) FILTER (WHERE open AND new_state = 'UNKNOWN')::int AS unknown,
      count(*) FILTER (WHERE open AND new_state = 'PENDING')::int AS released,
      COALESCE(sum(price) FILTER (WHERE old_settlement = 'reserved' AND new_settlement = 'charged'), 0)::bigint AS charged,
      COALESCE(sum(price) FILTER (WHERE old_settlement = 'reserved' AND new_settlement = 'none'), 0)::bigint AS freed,
      COALESCE((SELECT jsonb_object_agg(reason, count) FROM failed), '{}'::jsonb) AS reasons
    FROM updated`;
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
