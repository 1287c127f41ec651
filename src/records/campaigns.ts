/** The campaign's own row as creation writes it. Reports are in campaign-report.ts, moves in campaign-lifecycle.ts. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { CampaignStatus, ContactSelectionType, SendType } from '../domain/campaign.ts';
import type { Connection } from './database.ts';
import { nothing, row, timestamp } from './row.ts';

export interface NewCampaign {
  readonly channelId: string;
  readonly templateId: string;
  readonly name: string;
  readonly description: string | null;
  readonly contactSelectionType: ContactSelectionType;
  /** The small part of the audience input, in the field names of the request. */
  readonly audience: object;
  readonly variableMapping: object | null;
  readonly sendType: SendType;
  readonly scheduledAt: Date | null;
  readonly status: CampaignStatus;
  readonly createdBy: string;
}

const Created = row(
  t.type({
    id: t.string,
    preparation_version: t.number,
    audience_version: t.number,
    created_at: timestamp,
    updated_at: timestamp,
  }),
);

/** The campaign, PREPARING, with its counters at zero. */
export async function insertCampaign(connection: Connection, workspaceId: number, campaign: NewCampaign) {
  const mapping = campaign.variableMapping === null ? null : JSON.stringify(campaign.variableMapping);
  const created = await connection.one(sql.type(Created)`
    INSERT INTO campaign (workspace_id, channel_id, template_id, name, description, contact_selection_type, audience,
      variable_mapping, send_type, scheduled_at, status, preparation_status, created_by)
    VALUES (${workspaceId}, ${campaign.channelId}, ${campaign.templateId}, ${campaign.name}, ${campaign.description},
      ${campaign.contactSelectionType}, ${JSON.stringify(campaign.audience)}::jsonb, ${mapping}::jsonb,
      ${campaign.sendType}, ${campaign.scheduledAt?.toISOString() ?? null}::timestamptz, ${campaign.status},
      'PREPARING', ${campaign.createdBy})
    RETURNING id, preparation_version, audience_version, created_at, updated_at`);
  await connection.query(
    sql.type(nothing)`INSERT INTO campaign_counter (campaign_id) VALUES (${created.id})`,
  );
  return created;
}

const Reference = row(t.type({ id: t.string }));

/** Which of these segments the workspace does not have. */
export async function findMissingSegments(
  connection: Connection,
  workspaceId: number,
  segmentIds: readonly string[],
): Promise<readonly string[]> {
  const found = await connection.any(sql.type(Reference)`
    SELECT id FROM segment WHERE workspace_id = ${workspaceId} AND id = ANY (${sql.array(segmentIds, 'uuid')})`);
  const known = new Set(found.map(({ id }) => id));
  return segmentIds.filter((id) => !known.has(id.toLowerCase()));
}

const Source = row(t.type({ template_id: t.string, has_mapping: t.boolean }));

/** The campaign whose failed recipients are asked for; undefined when the workspace has no such campaign. */
export async function findFailedCampaign(
  connection: Connection,
  workspaceId: number,
  campaignId: string,
): Promise<{ readonly templateId: string } | undefined> {
  const found = await connection.maybeOne(sql.type(Source)`
    SELECT template_id, variable_mapping IS NOT NULL AS has_mapping FROM campaign
    WHERE workspace_id = ${workspaceId} AND id = ${campaignId}`);
  return found === null ? undefined : { templateId: found.template_id };
}
