/** A new campaign with its counters and its input; `workflow-commands.ts` starts its workflow. */
import { sql } from 'slonik';
import type { CampaignStatus, ContactSelectionType, SendType } from '../../domain/campaigns/campaign.ts';
import type { Connection } from '../database/database.ts';
import { campaignSelection, CampaignRow, type Campaign } from './campaigns.ts';

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
  /** The large part of the audience input: an inline CSV, or the JSON of quick contacts. */
  readonly input: string | undefined;
}

export async function insertCampaign(connection: Connection, campaign: NewCampaign): Promise<Campaign> {
  const { audience, variableMapping: mapping, scheduledAt, input = null } = campaign;
  return connection.one(sql.type(CampaignRow)`
    WITH created AS (
      INSERT INTO campaign (workspace_id, channel_id, template_id, name, description, contact_selection_type, audience,
        variable_mapping, send_type, scheduled_at, status, preparation_status, created_by)
      VALUES (${campaign.workspaceId}, ${campaign.channelId}, ${campaign.templateId}, ${campaign.name},
        ${campaign.description}, ${campaign.selectionType}, ${JSON.stringify(audience)}::jsonb,
        ${mapping === null ? null : JSON.stringify(mapping)}::jsonb, ${campaign.sendType},
        ${scheduledAt === null ? null : scheduledAt.toISOString()}::timestamptz, ${campaign.status}, 'PREPARING',
        ${campaign.createdBy})
      RETURNING ${campaignSelection}
    ), counted AS (
      INSERT INTO campaign_counter (campaign_id) SELECT id FROM created
    ), kept AS (
      INSERT INTO campaign_input (campaign_id, content)
      SELECT id, content FROM created, (VALUES (${input}::text)) AS given (content) WHERE content IS NOT NULL
    )
    SELECT * FROM created`);
}
