/** Parts of a test message of a campaign. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { notFound } from '../../domain/error.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row } from '../database/row.ts';

const CampaignSample = t.type({
  channel_id: t.string,
  template_id: t.string,
  message_plan: nullable(t.unknown),
  /** The frozen values of the campaign's first recipient; null before it is prepared. */
  variables: nullable(t.array(t.string)),
});
export type CampaignSample = t.TypeOf<typeof CampaignSample>;

/** Throws NotFound, for a campaign of another workspace too. */
export async function getCampaignSample(
  connection: Connection,
  workspaceId: number,
  campaignId: string,
): Promise<CampaignSample> {
  const found = await connection.maybeOne(sql.type(row(CampaignSample))`
    SELECT channel_id, template_id, message_plan,
      (SELECT COALESCE(variables, '{}') FROM recipient
        WHERE recipient.campaign_id = campaign.id AND sendable ORDER BY position LIMIT 1) AS variables
    FROM campaign WHERE workspace_id = ${workspaceId} AND id = ${campaignId}`);
  return found ?? notFound('Campaign');
}
