/** The workspace's sending window for MARKETING templates. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { SendingWindow } from '../../codecs/sending-window.ts';
import { oneOf } from '../../codecs/struct.ts';
import { campaignStatuses, isFinished } from '../../domain/campaigns/campaign.ts';
import { notFound } from '../../domain/error.ts';
import type { SendingWindow as Window } from '../../domain/campaigns/sending-window.ts';
import { enqueueRefreshes } from '../campaigns/workflow-outbox.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row } from '../database/row.ts';

const Found = row(t.type({ sending_window: nullable(SendingWindow) }));
const ChangedCampaign = row(t.type({ id: t.string, status: oneOf(campaignStatuses) }));
const unfinishedStatuses = campaignStatuses.filter((status) => !isFinished(status));

/** Null: always open. Throws NotFound. */
export async function getWorkspaceWindow(
  connection: Connection,
  workspaceId: number,
): Promise<Window | null> {
  const found = await connection.maybeOne(sql.type(Found)`
    SELECT sending_window FROM workspace WHERE id = ${workspaceId}`);
  return (found ?? notFound('Workspace')).sending_window;
}

/**
 * Returns the ids of the running campaigns that follow the workspace's window, and puts a message for the workflow of each into
 * the outbox. Their epoch is raised: a step that sends under the previous window claims nothing more. Campaigns that are not
 * running are locked too, so that one which begins or resumes meanwhile reads the new window. Throws NotFound.
 */
export async function saveWorkspaceWindow(
  transaction: Connection,
  workspaceId: number,
  window: Window | null,
): Promise<readonly string[]> {
  const saved = await transaction.maybeOne(sql.type(Found)`
    UPDATE workspace SET sending_window = ${window === null ? null : JSON.stringify(window)}::jsonb
    WHERE id = ${workspaceId} RETURNING sending_window`);
  if (saved === null) return notFound('Workspace');
  const changed = await transaction.any(sql.type(ChangedCampaign)`
    WITH unfinished AS MATERIALIZED (
      SELECT campaign.id FROM campaign JOIN template ON template.id = campaign.template_id
      WHERE campaign.workspace_id = ${workspaceId} AND NOT ignore_quiet_hours AND template.category = 'MARKETING'
        AND campaign.status = ANY (${sql.array(unfinishedStatuses, 'text')})
      ORDER BY campaign.id FOR NO KEY UPDATE OF campaign
    )
    UPDATE campaign SET window_opens_at = NULL, epoch = epoch + 1, updated_at = now()
    WHERE id IN (SELECT id FROM unfinished) RETURNING id, status`);
  const ids = changed.filter(({ status }) => status === 'RUNNING').map(({ id }) => id);
  await enqueueRefreshes(transaction, ids);
  return ids;
}
