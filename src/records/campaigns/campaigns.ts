/** The campaign record of Spec 2.1. `creation.ts` writes it; its status moves in `lifecycle.ts`. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { SendingWindow } from '../../codecs/sending-window.ts';
import { oneOf } from '../../codecs/struct.ts';
import {
  campaignStatuses,
  contactSelectionTypes,
  preparationStatuses,
  sendTypes,
} from '../../domain/campaigns/campaign.ts';
import { notFound } from '../../domain/error.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row, timestamp } from '../database/row.ts';

/** Spec 2.1, and the campaign's own sending window. */
export const Campaign = t.type({
  id: t.string,
  name: t.string,
  description: nullable(t.string),
  template_id: t.string,
  contact_selection_type: oneOf(contactSelectionTypes),
  total_contacts: t.number,
  total_contacts_skipped: t.number,
  preparation_status: oneOf(preparationStatuses),
  preparation_version: t.number,
  audience_version: t.number,
  status: oneOf(campaignStatuses),
  send_type: oneOf(sendTypes),
  scheduled_at: nullable(timestamp),
  sending_window: nullable(SendingWindow),
  ignore_quiet_hours: t.boolean,
  workspace_id: t.number,
  is_auto_trigger: t.boolean,
  /** When its recipients were deleted (`MESSAGE_RETENTION_MONTHS`). */
  archived_at: nullable(timestamp),
  created_at: timestamp,
  updated_at: timestamp,
});
export type Campaign = t.TypeOf<typeof Campaign>;
export const CampaignRow = row(Campaign);

export const campaignSelection = sql.fragment`
  id, name, description, template_id, contact_selection_type, total_contacts, total_contacts_skipped,
  preparation_status, preparation_version, audience_version, status, send_type, scheduled_at, sending_window,
  ignore_quiet_hours, workspace_id,
  is_auto_trigger, archived_at, created_at, updated_at`;

/** Throws NotFound, also for a campaign of another workspace. */
export async function getCampaign(
  connection: Connection,
  workspaceId: number,
  campaignId: string,
): Promise<Campaign> {
  const found = await connection.maybeOne(sql.type(CampaignRow)`
    SELECT ${campaignSelection} FROM campaign WHERE workspace_id = ${workspaceId} AND id = ${campaignId}`);
  return found ?? notFound('Campaign');
}

const CampaignId = row(t.type({ id: t.string }));

/** Those of the ids that are campaigns of the workspace whose recipients were not deleted. */
export function listPresentCampaigns(
  connection: Connection,
  workspaceId: number,
  campaignIds: readonly string[],
): Promise<readonly string[]> {
  return connection.anyFirst(sql.type(CampaignId)`
    SELECT id FROM campaign
    WHERE workspace_id = ${workspaceId} AND id = ANY(${sql.array(campaignIds, 'uuid')}) AND archived_at IS NULL`);
}
