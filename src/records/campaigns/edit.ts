/** Changes of a campaign's name, description and sending hours. */
import { sql } from 'slonik';
import type { SendingWindow } from '../../domain/campaigns/sending-window.ts';
import type { Connection } from '../database/database.ts';
import { nothing } from '../database/row.ts';

/** Absent fields stay as they are. */
export interface CampaignChanges {
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly sendingWindow?: SendingWindow | null | undefined;
  readonly ignoreQuietHours?: boolean | undefined;
  readonly scheduledAt?: Date | undefined;
}

/** False when the campaign is not SCHEDULED. */
export async function saveSchedule(
  transaction: Connection,
  campaignId: string,
  scheduledAt: Date,
): Promise<boolean> {
  const { rowCount } = await transaction.query(sql.type(nothing)`
    UPDATE campaign SET scheduled_at = ${scheduledAt.toISOString()}, updated_at = now()
    WHERE id = ${campaignId} AND status = 'SCHEDULED'`);
  return rowCount > 0;
}

export async function saveCampaignTexts(
  transaction: Connection,
  campaignId: string,
  { name, description }: Pick<CampaignChanges, 'name' | 'description'>,
): Promise<void> {
  await transaction.query(sql.type(nothing)`
    UPDATE campaign SET name = coalesce(${name ?? null}, name),
      description = CASE WHEN ${description === undefined} THEN description ELSE ${description ?? null} END,
      updated_at = now()
    WHERE id = ${campaignId}`);
}

/** Raises the epoch, so that a step that sends under the previous windows claims nothing more. */
export async function saveCampaignWindow(
  transaction: Connection,
  campaignId: string,
  { sendingWindow, ignoreQuietHours }: Pick<CampaignChanges, 'sendingWindow' | 'ignoreQuietHours'>,
): Promise<void> {
  const window = sendingWindow === undefined || sendingWindow === null ? null : JSON.stringify(sendingWindow);
  await transaction.query(sql.type(nothing)`
    UPDATE campaign SET
      sending_window = CASE WHEN ${sendingWindow === undefined} THEN sending_window ELSE ${window}::jsonb END,
      ignore_quiet_hours = coalesce(${ignoreQuietHours ?? null}::boolean, ignore_quiet_hours),
      window_opens_at = NULL, epoch = epoch + 1, updated_at = now()
    WHERE id = ${campaignId}`);
}
