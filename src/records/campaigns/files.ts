/** Files uploaded for CSV campaigns; their bytes are in the file storage under the same key. */
import * as t from 'io-ts';
import { sql } from 'slonik';
import type { Connection, Database } from '../database/database.ts';
import { openLoadConnection } from '../database/load-connection.ts';
import { nothing, row } from '../database/row.ts';

export interface NewCampaignFile {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  readonly headers: readonly string[];
}

const Kept = t.type({ files: t.number, bytes: t.number });

/** Number and total bytes of the files that the workspace keeps. */
export function countCampaignFiles(connection: Connection, workspaceId: number) {
  return connection.one(sql.type(row(Kept))`
    SELECT count(*)::int4 AS files, COALESCE(sum(size), 0)::float8 AS bytes
    FROM campaign_file WHERE workspace_id = ${workspaceId}`);
}

/** Returns false and writes nothing if the file would exceed the workspace's limits. */
export async function insertCampaignFile(
  database: Database,
  workspaceId: number,
  { key, size, headers, most }: NewCampaignFile & { readonly most: t.TypeOf<typeof Kept> },
): Promise<boolean> {
  return database.transaction(async (transaction) => {
    // Locks the workspace: two concurrent uploads must not both fit under the limit.
    await transaction.query(sql.type(nothing)`
      SELECT FROM workspace WHERE id = ${workspaceId} FOR NO KEY UPDATE`);
    const kept = await countCampaignFiles(transaction, workspaceId);
    if (kept.files >= most.files || kept.bytes + size > most.bytes) return false;
    await transaction.query(sql.type(nothing)`
      INSERT INTO campaign_file (key, workspace_id, size, headers)
      VALUES (${key}, ${workspaceId}, ${size}, ${sql.jsonb(headers)})`);
    return true;
  });
}

const ExpiredFile = row(t.type({ key: t.string }));

/** True while a campaign is prepared, or contacts are imported, from `file`. */
const isNeeded = sql.fragment`
  (EXISTS (
    SELECT FROM contact_import
    WHERE contact_import.csv_file_key = file.key AND contact_import.workspace_id = file.workspace_id AND state IN ('PENDING', 'RUNNING'))
  OR EXISTS (
    SELECT FROM campaign
    WHERE campaign.workspace_id = file.workspace_id AND preparation_status = 'PREPARING'
      AND status IN ('DRAFT', 'SCHEDULED', 'RUNNING', 'PAUSED')
      AND (audience ->> 'csv_file_key' = file.key OR right(audience ->> 'csv_file_url', length(file.key)) = file.key)))`;

/** Days to keep a file after its last use, so that it can be used again. */
const keptAfterUse = 7;

/** Lists the oldest files past their retention or their last use, except those that are still needed. */
export async function listExpiredCampaignFiles(
  connection: Connection,
  { olderThanDays, limit }: { readonly olderThanDays: number; readonly limit: number },
): Promise<readonly string[]> {
  const files = await connection.any(sql.type(ExpiredFile)`
    SELECT key FROM campaign_file AS file
    WHERE (created_at < now() - make_interval(days => ${olderThanDays})
        OR used_at < now() - make_interval(days => ${Math.min(keptAfterUse, olderThanDays)}))
      AND NOT ${isNeeded}
    ORDER BY created_at
    LIMIT ${limit}`);
  return files.map(({ key }) => key);
}

/** Returns the keys that have no row. */
export async function listUnknownFileKeys(
  connection: Connection,
  keys: readonly string[],
): Promise<readonly string[]> {
  const unknown = await connection.any(sql.type(ExpiredFile)`
    SELECT key FROM unnest(${sql.array(keys, 'text')}) AS given (key)
    WHERE NOT EXISTS (SELECT FROM campaign_file WHERE campaign_file.key = given.key)`);
  return unknown.map(({ key }) => key);
}

export async function deleteCampaignFile(connection: Connection, key: string): Promise<void> {
  await connection.query(sql.type(nothing)`DELETE FROM campaign_file WHERE key = ${key}`);
}

const Need = row(t.type({ needed: t.boolean }));

/** Undefined if the workspace has no such file. */
export async function isFileNeeded(
  connection: Connection,
  workspaceId: number,
  key: string,
): Promise<boolean | undefined> {
  const found = await connection.maybeOneFirst(sql.type(Need)`
    SELECT ${isNeeded} AS needed FROM campaign_file AS file WHERE workspace_id = ${workspaceId} AND key = ${key}`);
  return found ?? undefined;
}

const CampaignFile = t.type({ key: t.string, headers: t.array(t.string) });
export type CampaignFile = t.TypeOf<typeof CampaignFile>;

/** Finds a file of this workspace. */
export async function findCampaignFile(
  connection: Connection,
  workspaceId: number,
  key: string,
): Promise<CampaignFile | undefined> {
  const found = await connection.maybeOne(sql.type(row(CampaignFile))`
    SELECT key, headers FROM campaign_file WHERE workspace_id = ${workspaceId} AND key = ${key}`);
  return found ?? undefined;
}

// The large part of a campaign's audience input; it is deleted when preparation ends.

const Content = row(t.type({ content: t.string }));

export async function findCampaignInput(
  connection: Connection,
  campaignId: string,
): Promise<string | undefined> {
  const content = await connection.maybeOneFirst(sql.type(Content)`
    SELECT content FROM campaign_input WHERE campaign_id = ${campaignId}`);
  return content ?? undefined;
}

/** Deletes the input of a campaign that will no longer be prepared. */
export async function deleteCampaignInput(connection: Connection, campaignId: string): Promise<void> {
  await connection.query(sql.type(nothing)`DELETE FROM campaign_input WHERE campaign_id = ${campaignId}`);
}

const uuid = /^[0-9a-f-]{36}$/;
// A file in COPY's binary format: signature, flags and extension (19 bytes), then the one row: a count of fields and the
// length of the field.
const headerBytes = 19 + 2 + 4;

/**
 * Streams the input as UTF-8 in pieces, because reading all of it would keep several copies in memory. Yields nothing if
 * there is none.
 */
export async function* readCampaignInput(databaseUrl: string, campaignId: string): AsyncGenerator<Buffer> {
  if (!uuid.test(campaignId)) throw new Error('Not an id');
  const connection = await openLoadConnection(databaseUrl, 'prepare-input');
  try {
    const select = `SELECT content FROM campaign_input WHERE campaign_id = '${campaignId}'`;
    let header: Buffer = Buffer.alloc(0);
    let left: number | undefined;
    for await (const bytes of connection.copyOut(`COPY (${select}) TO STDOUT (FORMAT binary)`)) {
      let content = bytes;
      if (left === undefined) {
        header = Buffer.concat([header, bytes]);
        if (header.length < headerBytes) continue;
        left = header.readInt32BE(headerBytes - 4);
        content = header.subarray(headerBytes);
      }
      const piece = content.subarray(0, left);
      left -= piece.length;
      if (piece.length > 0) yield piece;
    }
    await connection.commit();
  } finally {
    connection.destroy();
  }
}
