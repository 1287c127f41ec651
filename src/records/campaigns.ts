/** The campaign record as creation writes it. Its status moves in `campaign-lifecycle.ts`. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../codecs/struct.ts';
import {
  campaignStatuses,
  contactSelectionTypes,
  preparationStatuses,
  sendTypes,
  type CampaignStatus,
  type ContactSelectionType,
  type SendType,
} from '../domain/campaign.ts';
import { NotFound } from '../domain/error.ts';
import type { Connection } from './database.ts';
import { nullable, row, timestamp } from './row.ts';

/** Spec 2.1. */
const Campaign = t.type({
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
  workspace_id: t.number,
  is_auto_trigger: t.boolean,
  created_at: timestamp,
  updated_at: timestamp,
});
export type Campaign = t.TypeOf<typeof Campaign>;
const CampaignRow = row(Campaign);

const selection = sql.fragment`
  id, name, description, template_id, contact_selection_type, total_contacts, total_contacts_skipped,
  preparation_status, preparation_version, audience_version, status, send_type, scheduled_at, workspace_id,
  is_auto_trigger, created_at, updated_at`;

export interface NewCampaign {
  readonly workspaceId: number;
  readonly channelId: string;
  readonly templateId: string;
  readonly name: string;
  readonly description: string | null;
  readonly selectionType: ContactSelectionType;
  /** JSON. */
  readonly audience: unknown;
  /** JSON; null without a mapping. */
  readonly variableMapping: unknown;
  readonly sendType: SendType;
  readonly scheduledAt: Date | null;
  readonly status: CampaignStatus;
  readonly createdBy: string;
}

/** The campaign, still to be prepared, with its counters. */
export async function insertCampaign(connection: Connection, campaign: NewCampaign): Promise<Campaign> {
  const { variableMapping } = campaign;
  return connection.one(sql.type(CampaignRow)`
    WITH inserted AS (
      INSERT INTO campaign (workspace_id, channel_id, template_id, name, description, contact_selection_type, audience,
        variable_mapping, send_type, scheduled_at, status, preparation_status, created_by)
      VALUES (${campaign.workspaceId}, ${campaign.channelId}, ${campaign.templateId}, ${campaign.name},
        ${campaign.description}, ${campaign.selectionType}, ${JSON.stringify(campaign.audience)}::jsonb,
        ${variableMapping == null ? null : JSON.stringify(variableMapping)}::jsonb, ${campaign.sendType},
        ${campaign.scheduledAt?.toISOString() ?? null}::timestamptz, ${campaign.status}, 'PREPARING',
        ${campaign.createdBy})
      RETURNING *
    ), counted AS (
      INSERT INTO campaign_counter (campaign_id) SELECT id FROM inserted
    )
    SELECT ${selection} FROM inserted`);
}

export async function findCampaign(
  connection: Connection,
  workspaceId: number,
  campaignId: string,
): Promise<Campaign | undefined> {
  const found = await connection.maybeOne(sql.type(CampaignRow)`
    SELECT ${selection} FROM campaign WHERE workspace_id = ${workspaceId} AND id = ${campaignId}`);
  return found ?? undefined;
}

/** Throws NotFound, for a campaign of another workspace too. */
export async function getCampaign(
  connection: Connection,
  workspaceId: number,
  campaignId: string,
): Promise<Campaign> {
  const found = await findCampaign(connection, workspaceId, campaignId);
  if (found === undefined) throw new NotFound('Campaign');
  return found;
}
