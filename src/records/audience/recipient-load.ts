/**
 * The recipients of one campaign, loaded by one COPY in one transaction that also ends the preparation. A process that
 * dies, or an audience that turns out to be unusable, leaves nothing behind.
 */
import type { CampaignStatus } from '../../domain/campaigns/campaign.ts';
import type { NewRecipient } from '../../domain/audience/candidate.ts';
import type { SkipReason } from '../../domain/campaigns/recipient.ts';
import { createBoundedQueue } from '../../concurrency/bounded-queue.ts';
import { createCopyRows } from '../database/copy-rows.ts';
import { openLoadConnection, type LoadConnection } from '../database/load-connection.ts';
import { countriesEvery } from '../campaigns/diagnosis.ts';
import { isBeingPrepared } from './preparation.ts';
import { recordPreparationEnd, releaseUnknownReservations, type PreparationEnd } from './preparation-end.ts';
import { createUuidV7Generator } from '../database/uuid-v7.ts';

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

/** Undefined when the campaign needs no preparation (any more). Waits for another process that prepares it. */
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
