/** What must reach a campaign's workflow: written in the transaction of its cause, deleted once delivered. */
import { sql, type FragmentSqlToken } from 'slonik';
import * as t from 'io-ts';
import { callContext } from '../../concurrency/call-context.ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row } from '../database/row.ts';

type WorkflowCommandKind = 'start' | 'refresh';

export async function insertRefreshCommand(connection: Connection, campaignId: string): Promise<void> {
  await connection.query(sql.type(nothing)`${workflowCommand('refresh', campaignId)}`);
}

/** As a part of the statement that makes the campaign. */
export const workflowCommand = (
  kind: WorkflowCommandKind,
  campaignId: string | FragmentSqlToken,
): FragmentSqlToken =>
  sql.fragment`
    INSERT INTO workflow_command (campaign_id, kind, request_id)
    VALUES (${campaignId}, ${kind}, ${callContext().requestId ?? null})`;

const WorkflowCommand = t.type({
  id: t.bigint,
  kind: t.union([t.literal('start'), t.literal('refresh')]),
  campaign_id: t.string,
  workspace_id: t.number,
  name: t.string,
  /** Of the API request that caused it. */
  request_id: nullable(t.string),
});
export type WorkflowCommandRow = t.TypeOf<typeof WorkflowCommand>;

/**
 * Oldest first; those of one campaign, or those behind `afterId` older than `olderThanMs`. One from the future was written
 * before Postgres' clock was set back.
 */
export async function listWorkflowCommands(
  connection: Connection,
  filter: { readonly campaignId: string } | { readonly olderThanMs: number; readonly afterId: bigint },
): Promise<readonly WorkflowCommandRow[]> {
  const condition =
    'campaignId' in filter
      ? sql.fragment`workflow_command.campaign_id = ${filter.campaignId}`
      : sql.fragment`workflow_command.id > ${filter.afterId}
          AND (workflow_command.created_at < now() - make_interval(secs => ${filter.olderThanMs / 1000})
            OR workflow_command.created_at > now() + interval '1 minute')`;
  return connection.any(sql.type(row(WorkflowCommand))`
    SELECT workflow_command.id, workflow_command.kind, campaign.id AS campaign_id, campaign.workspace_id, campaign.name,
      workflow_command.request_id
    FROM workflow_command JOIN campaign ON campaign.id = workflow_command.campaign_id
    WHERE ${condition}
    ORDER BY workflow_command.id
    LIMIT 500`);
}

export async function deleteWorkflowCommands(connection: Connection, ids: readonly bigint[]): Promise<void> {
  await connection.query(sql.type(nothing)`
    DELETE FROM workflow_command WHERE id = ANY (${sql.array(ids, 'int8')})`);
}
