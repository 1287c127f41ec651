/** The large part of a campaign's audience input; it is deleted when preparation ends. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from './database.ts';
import { nothing, row } from './row.ts';

export async function insertCampaignInput(
  connection: Connection,
  { campaignId, content }: { readonly campaignId: string; readonly content: string },
): Promise<void> {
  await connection.query(sql.type(nothing)`
    INSERT INTO campaign_input (campaign_id, content) VALUES (${campaignId}, ${content})`);
}

const Content = row(t.type({ content: t.string }));

export async function findCampaignInput(
  connection: Connection,
  campaignId: string,
): Promise<string | undefined> {
  const content = await connection.maybeOneFirst(sql.type(Content)`
    SELECT content FROM campaign_input WHERE campaign_id = ${campaignId}`);
  return content ?? undefined;
}
