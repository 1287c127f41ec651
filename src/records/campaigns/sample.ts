/** Parts of a test message of a campaign. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { MessageFields, messageFields } from '../contacts/message-fields.ts';
import { notFound } from '../../domain/error.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row } from '../database/row.ts';

const CampaignSample = t.type({
  channel_id: t.string,
  template_id: t.string,
  message_plan: nullable(t.unknown),
  /** The frozen values of the campaign's first recipient; null before it is prepared. */
  variables: nullable(t.array(t.string)),
  /** Present fields of that recipient's contact; null without one. */
  contact: nullable(MessageFields),
});
export type CampaignSample = t.TypeOf<typeof CampaignSample>;

/** Throws NotFound, for a campaign of another workspace too. */
export async function getCampaignSample(
  connection: Connection,
  workspaceId: number,
  campaignId: string,
): Promise<CampaignSample> {
  const found = await connection.maybeOne(sql.type(row(CampaignSample))`
    SELECT channel_id, template_id, message_plan, variables, contact
    FROM campaign LEFT JOIN LATERAL (
      SELECT COALESCE(recipient.variables, '{}') AS variables,
        CASE WHEN contact.id IS NOT NULL THEN ${messageFields(sql.fragment`contact.custom_fields`)} END AS contact
      FROM recipient LEFT JOIN contact
        ON contact.workspace_id = campaign.workspace_id AND contact.id = recipient.contact_id AND contact.erased_at IS NULL
      WHERE recipient.campaign_id = campaign.id AND recipient.sendable ORDER BY recipient.position LIMIT 1
    ) AS first ON true
    WHERE campaign.workspace_id = ${workspaceId} AND campaign.id = ${campaignId}`);
  return found ?? notFound('Campaign');
}
