/** Files uploaded for CSV campaigns; their bytes are in the file storage under the same key. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from './database.ts';
import { nothing, row } from './row.ts';

export interface NewCampaignFile {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  readonly headers: readonly string[];
}

export async function insertCampaignFile(
  connection: Connection,
  workspaceId: number,
  { key, size, headers }: NewCampaignFile,
): Promise<void> {
  await connection.query(sql.type(nothing)`
    INSERT INTO campaign_file (key, workspace_id, size, headers)
    VALUES (${key}, ${workspaceId}, ${size}, ${sql.jsonb(headers)})`);
}

const CampaignFile = t.type({ key: t.string, headers: t.array(t.string) });
export type CampaignFile = t.TypeOf<typeof CampaignFile>;

/** A file of this workspace. */
export async function findCampaignFile(
  connection: Connection,
  workspaceId: number,
  key: string,
): Promise<CampaignFile | undefined> {
  const found = await connection.maybeOne(sql.type(row(CampaignFile))`
    SELECT key, headers FROM campaign_file WHERE workspace_id = ${workspaceId} AND key = ${key}`);
  return found ?? undefined;
}
