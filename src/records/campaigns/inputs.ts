/** The large part of a campaign's audience input; it is deleted when preparation ends. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { openLoadConnection } from '../database/load-connection.ts';
import { nothing, row } from '../database/row.ts';

const Content = row(t.type({ content: t.string }));

export async function findCampaignInput(
  connection: Connection,
  campaignId: string,
): Promise<string | undefined> {
  const content = await connection.maybeOneFirst(sql.type(Content)`
    SELECT content FROM campaign_input WHERE campaign_id = ${campaignId}`);
  return content ?? undefined;
}

/** Deletes the input of a campaign that will not be prepared any more. */
export async function deleteCampaignInput(connection: Connection, campaignId: string): Promise<void> {
  await connection.query(sql.type(nothing)`DELETE FROM campaign_input WHERE campaign_id = ${campaignId}`);
}

const uuid = /^[0-9a-f-]{36}$/;
// A file in COPY's binary format: signature, flags and extension (19 bytes), then the one row: a count of fields and the
// length of the field.
const headerBytes = 19 + 2 + 4;

/** Streams the input as UTF-8 in pieces: read as a whole, it would be held in memory several times. Yields nothing if there is none. */
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
