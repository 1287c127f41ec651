/**
 * The recipients of one campaign, loaded by one COPY in one transaction that also ends the preparation. A process that
 * dies, or an audience that turns out to be unusable, leaves nothing behind.
 */
import { createBoundedQueue } from '../../concurrency/bounded-queue.ts';
import type { NewRecipient } from '../../domain/audience/candidate.ts';
import { emptyAudience } from '../../domain/audience/preparation-failure.ts';
import {
  type CampaignStatus,
  nextCampaignStatus,
  type PreparationErrorCode,
} from '../../domain/campaigns/campaign.ts';
import type { SkipReason } from '../../domain/campaigns/recipient.ts';
import { campaignFailedMessage } from '../../domain/operations/notice.ts';
import { countriesEvery } from '../campaigns/diagnosis.ts';
import { createCopyRows } from '../database/copy-rows.ts';
import { type LoadConnection, openLoadConnection } from '../database/load-connection.ts';
import { createUuidV7Generator } from '../database/uuid-v7.ts';
import { isBeingPrepared } from './preparation.ts';

// Records the end of a preparation, in the transaction that writes its recipients.

interface PreparationEnd {
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
async function recordPreparationEnd(
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
async function releaseUnknownReservations(
  connection: Pick<LoadConnection, 'rows'>,
  { campaignId, resentCampaignId }: { readonly campaignId: string; readonly resentCampaignId: string },
): Promise<void> {
  await connection.rows(
    `WITH unknown AS MATERIALIZED (
       SELECT position, phone_number, contact_id FROM recipient
       WHERE campaign_id = $2 AND state = 'UNKNOWN' AND settlement = 'reserved' AND sendable
     ), sent_again AS MATERIALIZED (
       -- By contact, who may have another number by now, and by number, because a recipient may have no contact.
       SELECT unknown.position FROM unknown
       JOIN recipient AS fresh ON fresh.campaign_id = $1 AND fresh.sendable AND fresh.contact_id = unknown.contact_id
       UNION
       SELECT unknown.position FROM unknown
       JOIN recipient AS fresh ON fresh.campaign_id = $1 AND fresh.sendable AND fresh.phone_number = unknown.phone_number
     ), resent AS (
       SELECT position FROM recipient
       WHERE campaign_id = $2 AND position = ANY (ARRAY(SELECT position FROM sent_again))
         AND state = 'UNKNOWN' AND settlement = 'reserved' AND sendable
       ORDER BY position
       FOR NO KEY UPDATE
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

export interface RecipientLoad {
  readonly write: (recipients: Iterable<NewRecipient>) => Promise<void>;
  /** Recipients written so far. */
  readonly count: () => number;
  /**
   * Ends the preparation as READY, or as FAILED if there is no recipient to send to. Returns undefined and changes nothing if
   * the campaign was cancelled meanwhile.
   */
  readonly finish: (end: {
    readonly messagePlan: unknown;
    /** Default: when this load began. */
    readonly contactsReadAt: Date | undefined;
    readonly resentCampaignId: string | undefined;
  }) => Promise<PreparationEnd['counts'] | undefined>;
  /** May be called at any time; undoes what is not committed. */
  readonly destroy: () => void;
}

/** `application_name` of a preparation's transaction, which begins before the first contact is read and ends the preparation. */
export const preparationSession = 'prepare-recipients';

/** Resolves to undefined if the campaign needs no preparation. Waits if another process is preparing it. */
export async function openRecipientLoad(
  databaseUrl: string,
  campaignId: string,
): Promise<RecipientLoad | undefined> {
  const connection = await openLoadConnection(databaseUrl, preparationSession);
  try {
    await connection.rows(`SELECT pg_advisory_xact_lock(hashtextextended('prepare ' || $1, 0))`, [
      campaignId,
    ]);
    const [campaign] = await connection.rows<[CampaignStatus, string, Date]>(
      'SELECT status, preparation_status, now() FROM campaign WHERE id = $1',
      [campaignId],
    );
    if (campaign !== undefined && isBeingPrepared(campaign[0], campaign[1]))
      return recipientLoad(connection, campaignId, campaign[2]);
    await connection.commit();
    return undefined;
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

const columns = [
  'campaign_id',
  'position',
  'id',
  'contact_id',
  'phone_number',
  'country',
  'sendable',
  'state',
  'reason',
  'reason_detail',
  'line_number',
  'variables',
];
const copyRecipients = `COPY recipient (${columns.join(', ')}) FROM STDIN (FORMAT binary)`;

const batchBytes = 1024 * 1024;
const batchesUnderWay = 4;

function recipientLoad(connection: LoadConnection, campaignId: string, startedAt: Date): RecipientLoad {
  // The id is created here: Postgres would spend more time on it than on half of the other columns.
  const newId = createUuidV7Generator(startedAt);
  const skipped = new Map<SkipReason, number>();
  const countries = new Map<string, number>();
  const countedAt: (readonly [position: number, counts: string])[] = [];
  const rows = createCopyRows(columns.length);
  const queue = createBoundedQueue(batchesUnderWay);
  let position = 0;

  const writeRow = ({ contactId, phone, line, skip, variables }: NewRecipient): void => {
    position += 1;
    rows.beginRow();
    rows.uuid(campaignId);
    rows.int4(position);
    rows.uuidBytes(newId());
    rows.uuid(contactId);
    rows.text(phone === undefined || phone.digits === '' ? null : phone.digits);
    rows.text(phone === undefined ? '' : phone.country);
    rows.bool(skip === undefined);
    rows.text(skip === undefined ? 'PENDING' : 'SKIPPED');
    rows.text(skip === undefined ? null : skip.reason);
    rows.text(skip === undefined ? null : skip.detail);
    rows.int4(line);
    rows.textArray(variables.length === 0 ? null : variables);
    if (skip !== undefined) skipped.set(skip.reason, (skipped.get(skip.reason) ?? 0) + 1);
    else if (phone !== undefined) countries.set(phone.country, (countries.get(phone.country) ?? 0) + 1);
    if (position % countriesEvery === 0) noteCountries();
  };
  const noteCountries = (): void => {
    countedAt.push([position, JSON.stringify(Object.fromEntries(countries))]);
  };

  return {
    count: () => position,
    destroy: connection.destroy,
    async write(recipients) {
      for (const recipient of recipients) {
        writeRow(recipient);
        if (rows.size() >= batchBytes) await queue.add(connection.copyRows(copyRecipients, rows.take()));
      }
    },
    async finish({ messagePlan, contactsReadAt = startedAt, resentCampaignId }) {
      if (rows.size() > 0) await queue.add(connection.copyRows(copyRecipients, rows.take()));
      await queue.settle();
      // FOR NO KEY UPDATE: the foreign keys of the new rows hold the campaign's key already.
      const [campaign] = await connection.rows<[CampaignStatus, string]>(
        'SELECT status, preparation_status FROM campaign WHERE id = $1 FOR NO KEY UPDATE',
        [campaignId],
      );
      if (campaign === undefined || !isBeingPrepared(...campaign)) {
        connection.destroy();
        return undefined;
      }
      const total = [...skipped.values()].reduce((sum, count) => sum + count, 0);
      const counts = { sendable: position - total, skipped: total };
      if (resentCampaignId !== undefined && counts.sendable > 0) {
        await releaseUnknownReservations(connection, { campaignId, resentCampaignId });
      }
      const [status] = campaign;
      if (countedAt.length > 0) {
        noteCountries();
        await connection.rows(
          `INSERT INTO campaign_countries (campaign_id, position, counts)
           SELECT $1, * FROM unnest($2::int4[], $3::jsonb[]) ON CONFLICT DO NOTHING`,
          [campaignId, countedAt.map(([at]) => at), countedAt.map(([, byCountry]) => byCountry)],
        );
      }
      const end = { campaignId, status, counts, skipped, messagePlan, contactsReadAt };
      await recordPreparationEnd(connection, end);
      await connection.commit();
      return counts;
    },
  };
}
