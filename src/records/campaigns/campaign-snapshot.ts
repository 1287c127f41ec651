/** Reads the snapshot of a campaign that every step of its workflow returns. */
import * as t from 'io-ts';
import { sql } from 'slonik';
import { oneOf } from '../../codecs/struct.ts';
import {
  campaignStatuses,
  pauseReasons,
  preparationErrorCodes,
  preparationStatuses,
  waitingReasons,
} from '../../domain/campaigns/campaign.ts';
import { describeEvidence, describePriceChange, type PriceChange } from '../../domain/campaigns/reasons.ts';
import type { CampaignSnapshot } from '../../domain/campaigns/snapshot.ts';
import type { PauseEvidence } from '../../domain/sending/failure-brake.ts';
import { notFound, NotFound } from '../../domain/error.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row, timestamp } from '../database/row.ts';
import { isSlow, openUntil, silentUntil } from '../sending/channel-rate.ts';
import { isAtLimit, quotaFreesAt, quotaOf } from '../sending/messaging-limit.ts';
import {
  Evidence,
  gateLeft,
  gateOpensAt,
  pauseEvidence,
  priceChange,
  StoredPriceChange,
} from '../sending/failure-brake.ts';
import { isLeased } from '../sending/send-slots.ts';

// Derives why a campaign waits, and until when, from the state of the campaign, its workflow and its channel.

/** True for a row of `campaign` that is RUNNING and whose send step has found its sending window closed. */
export const isWindowClosed = sql.fragment`(campaign.status = 'RUNNING' AND campaign.window_opens_at > now())`;

/** Columns of `waitingJoin`. */
export const waitingColumns = sql.fragment`
  waiting.reason AS waiting_for, waiting.until AS waiting_until`;

/** Joins `campaign` with the applicable reason of the lowest rank. */
export const waitingJoin = sql.fragment`
  LEFT JOIN LATERAL (
    SELECT reason, until FROM (
      SELECT 'WORKFLOW_STUCK' AS reason, NULL::timestamptz AS until, 0 AS rank FROM campaign_standstill AS stuck
      WHERE stuck.campaign_id = campaign.id AND kind IN ('stuck', 'failing')
      UNION ALL
      SELECT 'QUEUED', NULL, 0 FROM campaign_standstill AS queued
      WHERE queued.campaign_id = campaign.id AND kind = 'queued'
      UNION ALL
      SELECT 'PREPARATION', NULL, 1 WHERE campaign.preparation_status = 'PREPARING'
        AND (campaign.status = 'DRAFT' OR campaign.status = 'SCHEDULED' AND campaign.scheduled_at <= now())
      UNION ALL
      SELECT 'SENDING_WINDOW', window_opens_at, 1 FROM campaign_counter
      WHERE campaign_counter.campaign_id = campaign.id AND pending > 0 AND ${isWindowClosed}
      UNION ALL
      SELECT 'CHANNEL_TROUBLE', ${openUntil}, 2 FROM channel_rate
      WHERE channel_rate.channel_id = campaign.channel_id AND times_opened > 0 AND campaign.status = 'RUNNING'
      UNION ALL
      SELECT 'CHANNEL_TROUBLE', NULL, 4 FROM channel_rate JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id
      WHERE channel_rate.channel_id = campaign.channel_id AND ${isSlow} AND campaign.status = 'RUNNING' AND pending > 0
      UNION ALL
      SELECT 'CHANNEL_THROTTLE', silent_until, 3 FROM channel_rate
      WHERE channel_rate.channel_id = campaign.channel_id AND ${silentUntil} > now() AND campaign.status = 'RUNNING'
      UNION ALL
      SELECT 'MESSAGING_LIMIT', ${quotaFreesAt(quotaOf(sql.fragment`channel.business_account_id`))}, 4
      FROM channel WHERE channel.id = campaign.channel_id AND ${isAtLimit} AND campaign.status = 'RUNNING'
        AND EXISTS (SELECT FROM campaign_counter WHERE campaign_counter.campaign_id = campaign.id AND pending > 0)
      UNION ALL
      SELECT 'FIRST_STATUSES', ${gateOpensAt}, 4 FROM campaign_brake
      JOIN campaign_counter ON campaign_counter.campaign_id = campaign_brake.campaign_id
      WHERE campaign_brake.campaign_id = campaign.id AND campaign.status = 'RUNNING' AND pending > 0 AND gate_since IS NOT NULL
        AND ${gateLeft} <= 0
        -- Only a worker opens the gate: if none does, the campaign waits for something else.
        AND ${gateOpensAt} > now() - interval '30 seconds'
      UNION ALL
      SELECT 'TURN', NULL, 5 FROM slot_queue
      WHERE slot_queue.campaign_id = campaign.id AND slot_queue.waiting AND campaign.status = 'RUNNING'
        AND EXISTS (SELECT FROM send_slot WHERE send_slot.channel_id = campaign.channel_id
          AND send_slot.campaign_id <> campaign.id AND step_id IS NOT NULL AND ${isLeased(sql.fragment`send_slot`)})
      UNION ALL
      -- No check of the workflows has ended for a minute, or ever, and the campaign does not move: no worker runs, or Temporal is away.
      SELECT 'WORKFLOW_STUCK', NULL, 0 FROM campaign_watch
      WHERE campaign.preparation_status = 'PREPARING' AND coalesce(looked_at, '-infinity') < now() - interval '1 minute'
        AND (campaign.status = 'DRAFT' OR campaign.status = 'SCHEDULED' AND campaign.scheduled_at <= now())
        AND campaign.updated_at < now() - interval '1 minute'
      UNION ALL
      SELECT 'WORKFLOW_STUCK', NULL, 6 FROM campaign_watch
      JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id
      WHERE campaign.status = 'RUNNING' AND coalesce(looked_at, '-infinity') < now() - interval '1 minute'
        AND campaign.updated_at < now() - interval '1 minute'
        AND (SELECT true FROM recipient WHERE recipient.campaign_id = campaign.id
          AND position = claimed_position AND recipient.updated_at > now() - interval '1 minute') IS NULL
    ) AS possible
    ORDER BY rank LIMIT 1
  ) AS waiting ON true`;

const counts = {
  total: t.number,
  skipped: t.number,
  pending: t.number,
  claimed: t.number,
  failed: t.number,
  unknown: t.number,
  accepted: t.number,
  claimedPosition: t.number,
};
const Counts = t.type(counts);

const Snapshot = row(
  t.type({
    ...counts,
    workspace_id: t.number,
    status: oneOf(campaignStatuses),
    pause_reason: nullable(oneOf(pauseReasons)),
    pause_evidence: nullable(Evidence),
    price_change: nullable(StoredPriceChange),
    waiting_for: nullable(oneOf(waitingReasons)),
    waiting_until: nullable(timestamp),
    preparation_status: oneOf(preparationStatuses),
    preparation_error_code: nullable(oneOf(preparationErrorCodes)),
    scheduled_at: nullable(timestamp),
  }),
);

/** Recipients skipped by claims: the counter holds all skips, the campaign's row only those of the preparation and of erasures. */
const skippedLater = sql.fragment`greatest(0, campaign_counter.skipped - total_contacts_skipped)`;
export const contactTotals = sql.fragment`
  total_contacts - ${skippedLater} AS total_contacts, total_contacts_skipped + ${skippedLater} AS total_contacts_skipped`;

export const countColumns = sql.fragment`
  total_contacts - ${skippedLater} AS total, total_contacts_skipped + ${skippedLater} AS skipped,
  pending, claimed, failed, unknown, accepted + sent + delivered + read AS accepted, claimed_position AS "claimedPosition"`;

/** Throws NotFound. */
export async function getCampaignCounts(
  connection: Connection,
  campaignId: string,
): Promise<t.TypeOf<typeof Counts>> {
  const found = await connection.maybeOne(sql.type(row(Counts))`
    SELECT ${countColumns} FROM campaign JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id
    WHERE campaign.id = ${campaignId}`);
  return found ?? notFound('Campaign');
}

function pauseTextOf({
  pause_evidence: evidence,
  price_change: change,
}: {
  readonly pause_evidence: PauseEvidence | null;
  readonly price_change: PriceChange | null;
}): string | null {
  if (evidence !== null) return describeEvidence(evidence);
  return change === null ? null : describePriceChange(change);
}

/** Throws NotFound. */
export async function getCampaignSnapshot(
  connection: Connection,
  campaignId: string,
): Promise<CampaignSnapshot> {
  const found = await connection.maybeOne(sql.type(Snapshot)`
    SELECT campaign.workspace_id, status, pause_reason, ${pauseEvidence} AS pause_evidence, ${priceChange} AS price_change, preparation_status, preparation_error_code, scheduled_at,
      ${countColumns}, ${waitingColumns}
    FROM campaign JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id
    ${waitingJoin}
    WHERE campaign.id = ${campaignId}`);
  if (found === null) throw new NotFound('Campaign');
  const { total, skipped, pending, claimed, failed, unknown, accepted, claimedPosition } = found;
  return {
    workspaceId: found.workspace_id,
    status: found.status,
    pauseReason: found.pause_reason,
    pauseText: pauseTextOf(found),
    waitingFor: found.waiting_for,
    waitingUntil: found.waiting_until?.toISOString() ?? null,
    prepared: found.preparation_status === 'READY',
    preparationError: found.preparation_error_code,
    scheduledAt: found.scheduled_at?.toISOString() ?? null,
    counts: { total, skipped, pending, claimed, failed, unknown, accepted, claimedPosition },
  };
}
