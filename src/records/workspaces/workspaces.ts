import { sql } from 'slonik';
import * as t from 'io-ts';
import { notFound, NotFound } from '../../domain/error.ts';
import type { Connection } from '../database/database.ts';
import { row } from '../database/row.ts';

const WorkspaceId = row(t.type({ id: t.number }));

/** Inserts a workspace with every feature on and unlimited broadcasts; returns its id. */
export async function insertWorkspace(connection: Connection, name: string): Promise<number> {
  return connection.oneFirst(sql.type(WorkspaceId)`
    WITH inserted AS (
      INSERT INTO workspace (name) VALUES (${name}) RETURNING id
    ), feature AS (
      INSERT INTO workspace_feature (workspace_id) SELECT id FROM inserted
    )
    SELECT id FROM inserted`);
}

export async function requireWorkspace(connection: Connection, workspaceId: number): Promise<void> {
  const found = await connection.maybeOne(
    sql.type(WorkspaceId)`SELECT id FROM workspace WHERE id = ${workspaceId}`,
  );
  if (found === null) throw new NotFound('Workspace');
}

export async function getWorkspaceOfCampaign(connection: Connection, campaignId: string): Promise<number> {
  const found = await connection.maybeOneFirst(sql.type(WorkspaceId)`
    SELECT workspace_id AS id FROM campaign WHERE id = ${campaignId}`);
  return found ?? notFound('Campaign');
}
