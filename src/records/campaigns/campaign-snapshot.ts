/** Reads the snapshot of a campaign that every step of its workflow returns. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import {
  campaignStatuses,
  pauseReasons,
  preparationErrorCodes,
  preparationStatuses,
  waitingReasons,
} from '../../domain/campaigns/campaign.ts';
import { notFound, NotFound } from '../../domain/error.ts';
import type { CampaignSnapshot } from '../../domain/campaigns/snapshot.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row, timestamp } from '../database/row.ts';
import { waitingColumns, waitingJoin } from './waiting-reason.ts';

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

/** Throws NotFound. */
export async function getCampaignSnapshot(
  connection: Connection,
  campaignId: string,
): Promise<CampaignSnapshot> {
  const found = await connection.maybeOne(sql.type(Snapshot)`
    SELECT campaign.workspace_id, status, pause_reason, preparation_status, preparation_error_code, scheduled_at,
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
    waitingFor: found.waiting_for,
    waitingUntil: found.waiting_until?.toISOString() ?? null,
    prepared: found.preparation_status === 'READY',
    preparationError: found.preparation_error_code,
    scheduledAt: found.scheduled_at?.toISOString() ?? null,
    counts: { total, skipped, pending, claimed, failed, unknown, accepted, claimedPosition },
  };
}
