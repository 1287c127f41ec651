/**
 * The recipients of one campaign, loaded by one COPY in one transaction that also ends the preparation. A process that
 * dies, or an audience that turns out to be unusable, leaves nothing behind.
 */
import { nextCampaignStatus, type CampaignStatus, type PreparationErrorCode } from '../domain/campaign.ts';
import type { NewRecipient } from '../domain/audience.ts';
import type { SkipReason } from '../domain/recipient.ts';
import { copyArray, copyValue, openLoadConnection, type LoadConnection } from './load-connection.ts';
import { isBeingPrepared } from './campaign-preparation.ts';
import { createUuidV7Generator } from './uuid-v7.ts';

export interface RecipientLoad {
  readonly write: (recipients: readonly NewRecipient[]) => Promise<void>;
  /** Recipients written so far. */
  readonly count: () => number;
  /**
   * Ends the preparation: READY, or FAILED for want of anybody to send to. `beforeCommit` is called when nothing can
   * stop it any more. False, and nothing changed, when the campaign was cancelled meanwhile.
   */
  readonly finish: (end: {
    readonly messagePlan: unknown;
    readonly resentCampaignId: string | undefined;
    readonly beforeCommit: () => Promise<void>;
  }) => Promise<boolean>;
  /** At any moment; what was not committed is undone. */
  readonly destroy: () => void;
}

/** Undefined when the campaign needs no preparation (any more). Waits for another process that prepares it. */
export async function openRecipientLoad(
  databaseUrl: string,
  campaignId: string,
): Promise<RecipientLoad | undefined> {
  const connection = await openLoadConnection(databaseUrl, 'prepare-recipients');
  try {
    await connection.rows('BEGIN');
    await connection.rows(`SELECT pg_advisory_xact_lock(hashtextextended('prepare ' || $1, 0))`, [
      campaignId,
    ]);
    const [campaign] = await connection.rows<[CampaignStatus, string, Date]>(
      'SELECT status, preparation_status, now() FROM campaign WHERE id = $1',
      [campaignId],
    );
    if (campaign === undefined) {
      await connection.end();
      return undefined;
    }
    const [status, preparationStatus, startedAt] = campaign;
    if (isBeingPrepared(status, preparationStatus)) return recipientLoad(connection, campaignId, startedAt);
    await connection.end();
    return undefined;
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

const columns =
  'campaign_id, position, id, contact_id, phone_number, country, sendable, state, reason, reason_detail, line_number, variables';

function recipientLoad(connection: LoadConnection, campaignId: string, startedAt: Date): RecipientLoad {
  // Made here: Postgres would take longer over a row's id than over half of its other columns.
  const newId = createUuidV7Generator(startedAt);
  const copy = connection.copy(`COPY recipient (${columns}) FROM STDIN`);
  const skipped = new Map<SkipReason, number>();
  let position = 0;

  const line = ({ contactId, phone, line: lineNumber, skip, variables }: NewRecipient): string => {
    position += 1;
    const who = `${campaignId}\t${position}\t${newId()}\t${contactId ?? '\\N'}\t${phone?.digits ?? '\\N'}\t${phone?.country ?? ''}`;
    const where = lineNumber ?? '\\N';
    if (skip === undefined) {
      const values = variables.length === 0 ? '\\N' : copyArray(variables);
      return `${who}\tt\tPENDING\t\\N\t\\N\t${where}\t${values}\n`;
    }
    skipped.set(skip.reason, (skipped.get(skip.reason) ?? 0) + 1);
    return `${who}\tf\tSKIPPED\t${skip.reason}\t${copyValue(skip.detail)}\t${where}\t\\N\n`;
  };

  return {
    count: () => position,
    destroy: connection.destroy,
    async write(recipients) {
      let rows = '';
      for (const recipient of recipients) rows += line(recipient);
      await copy.write(rows);
    },
    async finish({ messagePlan, resentCampaignId, beforeCommit }) {
      await copy.end();
      // FOR NO KEY UPDATE: the foreign keys of the new rows hold the campaign's key already.
      const [campaign] = await connection.rows<[CampaignStatus, string]>(
        'SELECT status, preparation_status FROM campaign WHERE id = $1 FOR NO KEY UPDATE',
        [campaignId],
      );
      if (campaign === undefined || !isBeingPrepared(...campaign)) {
        await connection.rows('ROLLBACK');
        await connection.end();
        return false;
      }
      const total = [...skipped.values()].reduce((sum, count) => sum + count, 0);
      const counts = { sendable: position - total, skipped: total };
      if (resentCampaignId !== undefined && counts.sendable > 0) {
        await releaseUnknownReservations(connection, { campaignId, resentCampaignId });
      }
      await recordEnd(connection, { campaignId, status: campaign[0], counts, messagePlan });
      await recordReasons(connection, campaignId, skipped);
      await beforeCommit();
      await connection.rows('COMMIT');
      await connection.end();
      return true;
    },
  };
}

interface PreparationEnd {
  readonly campaignId: string;
  readonly status: CampaignStatus;
  readonly counts: { readonly sendable: number; readonly skipped: number };
  readonly messagePlan: unknown;
}

const empty: PreparationErrorCode = 'AUDIENCE_EMPTY';
const emptyMessage = 'The audience holds nobody to send to';

async function recordEnd(connection: LoadConnection, end: PreparationEnd): Promise<void> {
  const { campaignId, status, counts, messagePlan } = end;
  const isEmpty = counts.sendable === 0;
  const next = isEmpty ? (nextCampaignStatus(status, 'fail') ?? status) : status;
  await connection.rows(
    `UPDATE campaign SET preparation_status = $2, preparation_error_code = $3, preparation_error_message = $4,
       status = $5, pause_reason = CASE WHEN $5 = 'PAUSED' THEN pause_reason END,
       epoch = epoch + CASE WHEN status = $5 THEN 0 ELSE 1 END,
       total_contacts = $6, total_contacts_skipped = $7, message_plan = $8, updated_at = now()
     WHERE id = $1`,
    [
      campaignId,
      isEmpty ? 'FAILED' : 'READY',
      isEmpty ? empty : null,
      isEmpty ? emptyMessage : null,
      next,
      counts.sendable,
      counts.skipped,
      JSON.stringify(messagePlan),
    ],
  );
  await connection.rows('UPDATE campaign_counter SET pending = $2, skipped = $3 WHERE campaign_id = $1', [
    campaignId,
    counts.sendable,
    counts.skipped,
  ]);
  await connection.rows('DELETE FROM campaign_input WHERE campaign_id = $1', [campaignId]);
}

async function recordReasons(
  connection: LoadConnection,
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

/**
 * Messages of unknown outcome that are sent again: what was reserved for the first attempt is free for the second.
 * Recipients first, then the wallet, as everywhere.
 */
export async function releaseUnknownReservations(
  connection: Pick<LoadConnection, 'rows'>,
  { campaignId, resentCampaignId }: { readonly campaignId: string; readonly resentCampaignId: string },
): Promise<void> {
  await connection.rows(
    `WITH resent AS (
       SELECT old.position FROM recipient AS old
       JOIN recipient AS fresh ON fresh.campaign_id = $1 AND fresh.phone_number = old.phone_number AND fresh.sendable
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
