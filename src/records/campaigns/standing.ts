/** Where a campaign stands, as every step of its workflow reports it. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import {
  campaignStatuses,
  pauseReasons,
  preparationErrorCodes,
  preparationStatuses,
} from '../../domain/campaigns/campaign.ts';
import { NotFound } from '../../domain/error.ts';
import type { CampaignStanding } from '../../domain/campaigns/standing.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row, timestamp } from '../database/row.ts';

const Standing = row(
  t.type({
    workspace_id: t.number,
    status: oneOf(campaignStatuses),
    pause_reason: nullable(oneOf(pauseReasons)),
    preparation_status: oneOf(preparationStatuses),
    preparation_error_code: nullable(oneOf(preparationErrorCodes)),
    scheduled_at: nullable(timestamp),
    started: t.boolean,
    total: t.number,
    skipped: t.number,
    pending: t.number,
    claimed: t.number,
    failed: t.number,
    unknown: t.number,
    accepted: t.number,
    claimed_position: t.number,
  }),
);

/** Throws NotFound. */
export async function getCampaignStanding(
  connection: Connection,
  campaignId: string,
): Promise<CampaignStanding> {
  const found = await connection.maybeOne(sql.type(Standing)`
    SELECT workspace_id, status, pause_reason, preparation_status, preparation_error_code, scheduled_at,
      started_at IS NOT NULL AS started, total_contacts AS total, total_contacts_skipped AS skipped,
      pending, claimed, failed, unknown, accepted + sent + delivered + read AS accepted,
      claimed_position
    FROM campaign JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id
    WHERE campaign.id = ${campaignId}`);
  if (found === null) throw new NotFound('Campaign');
  const {
    total,
    skipped,
    pending,
    claimed,
    failed,
    unknown,
    accepted,
    claimed_position: claimedPosition,
  } = found;
  return {
    workspaceId: found.workspace_id,
    status: found.status,
    pauseReason: found.pause_reason,
    prepared: found.preparation_status === 'READY',
    preparationError: found.preparation_error_code,
    scheduledAt: found.scheduled_at?.toISOString() ?? null,
    counts: { total, skipped, pending, claimed, failed, unknown, accepted, claimedPosition },
  };
}
