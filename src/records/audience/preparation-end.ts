/** Records the end of a preparation, in the transaction that writes its recipients. */
import {
  nextCampaignStatus,
  type CampaignStatus,
  type PreparationErrorCode,
} from '../../domain/campaigns/campaign.ts';
import { emptyAudience } from '../../domain/audience/preparation-failure.ts';
import { campaignFailedMessage } from '../../domain/operations/notice.ts';
import type { SkipReason } from '../../domain/campaigns/recipient.ts';
import type { LoadConnection } from '../database/load-connection.ts';

export interface PreparationEnd {
  readonly campaignId: string;
  /** Current status, read under a row lock. */
  readonly status: CampaignStatus;
  readonly counts: { readonly sendable: number; readonly skipped: number };
  readonly skipped: ReadonlyMap<SkipReason, number>;
  readonly messagePlan: unknown;
  /** The variables of contacts that change after this time are resolved again when their message is sent. */
  readonly contactsReadAt: Date;
}

const empty: PreparationErrorCode = 'AUDIENCE_EMPTY';

/** Records READY, or FAILED for an audience without recipients. */
export async function recordPreparationEnd(
  connection: Pick<LoadConnection, 'rows'>,
  end: PreparationEnd,
): Promise<void> {
  const { campaignId, status, counts, skipped, messagePlan, contactsReadAt } = end;
  const isEmpty = counts.sendable === 0;
  const next = isEmpty ? (nextCampaignStatus(status, 'fail') ?? status) : status;
  await connection.rows(
    `WITH counted AS (UPDATE campaign_counter SET pending = $6, skipped = $7 WHERE campaign_id = $1),
       gone AS (DELETE FROM campaign_input WHERE campaign_id = $1),
       noticed AS (
         INSERT INTO notice (workspace_id, kind, subject_type, subject_id, subject_name, message)
         SELECT workspace_id, 'campaign_failed', 'campaign', id, name, $9 FROM campaign
         WHERE id = $1 AND $5 = 'FAILED' AND status <> 'FAILED')
     UPDATE campaign SET preparation_status = $2, preparation_error_code = $3, preparation_error_message = $4,
       status = $5, pause_reason = CASE WHEN $5 = 'PAUSED' THEN pause_reason END,
       epoch = epoch + CASE WHEN status = $5 THEN 0 ELSE 1 END,
       total_contacts = $6, total_contacts_skipped = $7, message_plan = $8, contacts_read_at = $10, updated_at = now()
     WHERE id = $1`,
    [
      campaignId,
      isEmpty ? 'FAILED' : 'READY',
      isEmpty ? empty : null,
      isEmpty ? emptyAudience([...skipped]) : null,
      next,
      counts.sendable,
      counts.skipped,
      JSON.stringify(messagePlan),
      campaignFailedMessage(emptyAudience([...skipped])),
      contactsReadAt,
    ],
  );
  await recordReasons(connection, campaignId, skipped);
}

async function recordReasons(
  connection: Pick<LoadConnection, 'rows'>,
  campaignId: string,
  skipped: ReadonlyMap<SkipReason, number>,
): Promise<void> {
  if (skipped.size === 0) return;
  await connection.rows(
    `INSERT INTO campaign_reason (campaign_id, kind, reason, count)
     SELECT $1, 'skipped', reason, count FROM unnest($2::text[], $3::int[]) AS skipped (reason, count) ORDER BY reason`,
    [campaignId, [...skipped.keys()], [...skipped.values()]],
  );
}

/** Releases the reservations of UNKNOWN messages that are sent again. Locks recipients before the wallet. */
export async function releaseUnknownReservations(
  connection: Pick<LoadConnection, 'rows'>,
  { campaignId, resentCampaignId }: { readonly campaignId: string; readonly resentCampaignId: string },
): Promise<void> {
  await connection.rows(
    `WITH resent AS (
       SELECT old.position FROM recipient AS old
       JOIN recipient AS fresh ON fresh.campaign_id = $1 AND fresh.sendable
         AND COALESCE(fresh.phone_number, fresh.contact_id::text) = COALESCE(old.phone_number, old.contact_id::text)
       WHERE old.campaign_id = $2 AND old.state = 'UNKNOWN' AND old.settlement = 'reserved' AND old.sendable
       ORDER BY old.position
       FOR NO KEY UPDATE OF old
     ), released AS (
       UPDATE recipient SET settlement = 'none', updated_at = now()
       FROM resent WHERE recipient.campaign_id = $2 AND recipient.position = resent.position
       RETURNING recipient.price
     )
     UPDATE wallet SET reserved = reserved - total.price, updated_at = now()
     FROM (SELECT coalesce(sum(price), 0)::bigint AS price FROM released) AS total, campaign
     WHERE campaign.id = $2 AND wallet.channel_id = campaign.channel_id AND total.price > 0`,
    [campaignId, resentCampaignId],
  );
}
