/** New campaigns, each with its counters, its input, the command to start its workflow and its Idempotency-Key. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { CampaignStatus, ContactSelectionType, SendType } from '../../domain/campaigns/campaign.ts';
import type { Connection } from '../database/database.ts';
import { keyLifetime, keyLock, type AnsweredKey } from '../workspaces/idempotency-keys.ts';
import { row } from '../database/row.ts';

export interface NewCampaign {
  readonly id: string;
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
  readonly createdAt: Date;
  /** The large part of the audience input: an inline CSV, or the JSON of quick contacts. */
  readonly input: string | undefined;
  /** Of the API request that creates it. */
  readonly requestId: string | undefined;
  /** Written with the campaign or not at all: when it is taken, nothing of the campaign is written. */
  readonly idempotencyKey: AnsweredKey | undefined;
}

// One row for all: each row that comes back costs more than its insertion does here.
const Commands = row(t.type({ ids: t.record(t.string, t.number) }));

/**
 * Writes campaigns in one statement: each of them wholly or, when its Idempotency-Key is taken, not at all. Returns the id
 * of the workflow command of every campaign that was written. No two of them may have the same key.
 */
export async function insertCampaigns(
  connection: Connection,
  campaigns: readonly NewCampaign[],
): Promise<ReadonlyMap<string, bigint>> {
  const inputs = campaigns.map(({ input }) => input ?? null);
  const commands = await connection.one(sql.prepared('campaign-creation', Commands)`
    WITH given AS (
      SELECT given.*, (${sql.array(inputs, 'text')})[given.ordinal] AS content
      FROM jsonb_to_recordset(${JSON.stringify(campaigns.map(toRow))}::jsonb) AS given (
        ordinal int, id uuid, workspace_id int, channel_id uuid, template_id uuid, name text, description text,
        contact_selection_type text, audience jsonb, variable_mapping jsonb, send_type text, scheduled_at timestamptz,
        status text, created_by text, created_at timestamptz, request_id text,
        route text, key text, request_sha256 text, response_status int, response_body text)
    ), claimed AS (
      INSERT INTO idempotency_key (workspace_id, route, key, request_sha256, response_status, response_body)
      SELECT workspace_id, route, key, decode(request_sha256, 'hex'), response_status, response_body FROM given
      WHERE key IS NOT NULL AND ${keyLock}
      ON CONFLICT (workspace_id, route, key) DO UPDATE SET
        request_sha256 = excluded.request_sha256, response_status = excluded.response_status,
        response_body = excluded.response_body, resource_id = NULL, created_at = now()
      WHERE idempotency_key.created_at <= now() - ${keyLifetime}
      RETURNING workspace_id, route, key
    ), chosen AS (
      SELECT given.* FROM given LEFT JOIN claimed USING (workspace_id, route, key)
      WHERE given.key IS NULL OR claimed.key IS NOT NULL
    ), inserted AS (
      INSERT INTO campaign (id, workspace_id, channel_id, template_id, name, description, contact_selection_type,
        audience, variable_mapping, send_type, scheduled_at, status, preparation_status, created_by, created_at,
        updated_at)
      SELECT id, workspace_id, channel_id, template_id, name, description, contact_selection_type,
        audience, variable_mapping, send_type, scheduled_at, status, 'PREPARING', created_by, created_at, created_at
      FROM chosen
    ), counted AS (
      INSERT INTO campaign_counter (campaign_id) SELECT id FROM chosen
    ), kept AS (
      INSERT INTO campaign_input (campaign_id, content) SELECT id, content FROM chosen WHERE content IS NOT NULL
    ), commanded AS (
      INSERT INTO workflow_command (campaign_id, kind, request_id)
      SELECT id, 'start', request_id FROM chosen
      RETURNING campaign_id, id
    )
    SELECT coalesce(jsonb_object_agg(campaign_id, id), '{}') AS ids FROM commanded`);
  return new Map(Object.entries(commands.ids).map(([campaignId, id]) => [campaignId, BigInt(id)]));
}

function toRow(campaign: NewCampaign, index: number) {
  const { idempotencyKey: key } = campaign;
  return {
    ordinal: index + 1,
    id: campaign.id,
    workspace_id: campaign.workspaceId,
    channel_id: campaign.channelId,
    template_id: campaign.templateId,
    name: campaign.name,
    description: campaign.description,
    contact_selection_type: campaign.selectionType,
    audience: campaign.audience,
    variable_mapping: campaign.variableMapping,
    send_type: campaign.sendType,
    scheduled_at: campaign.scheduledAt,
    status: campaign.status,
    created_by: campaign.createdBy,
    created_at: campaign.createdAt,
    request_id: campaign.requestId,
    ...(key !== undefined && {
      route: key.route,
      key: key.key,
      request_sha256: key.requestSha256.toString('hex'),
      response_status: key.response.status,
      response_body: key.response.body,
    }),
  };
}
