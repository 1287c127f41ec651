/** A new campaign with its counters, its input, and the outbox message that starts its workflow. */
import { sql } from 'slonik';
import type { CampaignStatus, ContactSelectionType, SendType } from '../../domain/campaigns/campaign.ts';
import type { SendingWindow } from '../../domain/campaigns/sending-window.ts';
import type { Connection } from '../database/database.ts';
import { auditEntry } from '../operations/audit.ts';
import { row } from '../database/row.ts';
import { Campaign, campaignSelection } from './campaigns.ts';
import { outboxStart } from './workflow-outbox.ts';

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
  readonly sendingWindow?: SendingWindow | null;
  readonly ignoreQuietHours?: boolean;
  readonly status: CampaignStatus;
  readonly createdBy: string;
  /** The large part of the audience input in UTF-8: an inline CSV, or the JSON of quick contacts. */
  readonly input: Buffer | undefined;
}

/** One statement. `startsAtOnce`: the caller starts the workflow, which otherwise waits for the workspace's turn. */
export async function insertCampaign(
  connection: Connection,
  campaign: NewCampaign,
  startsAtOnce = true,
): Promise<Campaign> {
  const { workspaceId, audience, variableMapping: mapping, scheduledAt, input } = campaign;
  const { sendingWindow = null, ignoreQuietHours = false } = campaign;
  const id = sql.fragment`(SELECT id FROM created)`;
  return connection.one(sql.type(row(Campaign))`
    WITH created AS (
      INSERT INTO campaign (workspace_id, channel_id, template_id, name, description, contact_selection_type, audience,
        variable_mapping, send_type, scheduled_at, sending_window, ignore_quiet_hours, status, preparation_status,
        created_by)
      VALUES (${workspaceId}, ${campaign.channelId}, ${campaign.templateId}, ${campaign.name},
        ${campaign.description}, ${campaign.selectionType}, ${JSON.stringify(audience)}::jsonb,
        ${mapping === null ? null : JSON.stringify(mapping)}::jsonb, ${campaign.sendType},
        ${scheduledAt === null ? null : scheduledAt.toISOString()}::timestamptz,
        ${sendingWindow === null ? null : JSON.stringify(sendingWindow)}::jsonb, ${ignoreQuietHours},
        ${campaign.status}, 'PREPARING', ${campaign.createdBy})
      RETURNING ${campaignSelection}
    ), counted AS (
      INSERT INTO campaign_counter (campaign_id) SELECT id FROM created
    ), kept AS (
      INSERT INTO campaign_input (campaign_id, content)
      SELECT id, content FROM created, (VALUES (convert_from(${input === undefined ? null : sql.binary(input)}::bytea, 'UTF8'))) AS given (content) WHERE content IS NOT NULL
    ), audited AS (
      ${auditEntry({ workspaceId, action: 'campaign.create', objectId: id })}
    ), started AS (
      ${outboxStart(id, workspaceId, startsAtOnce)}
    )
    SELECT * FROM created`);
}
