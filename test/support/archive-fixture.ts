/** Campaigns and messages of some months ago, and what moves them into a folder. */
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import pino from 'pino';
import { sql } from 'slonik';
import type { Archivist } from '../../src/commands/operations/archive-expired.ts';
import type { Config } from '../../src/config.ts';
import { createRecipientExport } from '../../src/records/campaigns/recipient-export.ts';
import type { Database } from '../../src/records/database/database.ts';
import { nothing } from '../../src/records/database/row.ts';
import { createFolderStorage } from '../../src/storage/folder-storage.ts';
import { messagePrice, seedCampaign, type SeededCampaign } from './campaign-factory.ts';
import type { TestDatabase } from './database.ts';

/** Archives what is older than six months. */
export async function createArchivist({ pool, url }: TestDatabase) {
  const dataDir = await mkdtemp(join(tmpdir(), 'messaging-campaigns-archive-'));
  const folder = join(dataDir, 'files');
  const recipientExport = createRecipientExport(url);
  const archivist: Archivist = {
    database: pool,
    config: { databaseUrl: url, messageRetentionMonths: 6 } as Config,
    storage: createFolderStorage(folder),
    logger: pino({ level: 'silent' }),
    recipientExport,
  };
  return {
    archivist,
    dataDir,
    folder,
    /** The lines of an archive, without its header. */
    linesOf: async (key: string): Promise<readonly string[]> =>
      gunzipSync(await readFile(join(folder, key)))
        .toString()
        .trimEnd()
        .split('\n')
        .slice(1),
    end: () => recipientExport.end(),
  };
}

export interface EndedCampaign {
  readonly recipients: number;
  readonly monthsAgo: number;
}

/** All delivered but the first, whose outcome is unknown and whose price is still reserved. */
export async function seedEndedCampaign(
  database: Database,
  { recipients, monthsAgo }: EndedCampaign,
): Promise<SeededCampaign> {
  const seeded = await seedCampaign(database, { recipients });
  const { campaignId, channelId } = seeded;
  await database.query(sql.type(nothing)`
    UPDATE campaign SET status = 'COMPLETED', completed_at = now() - make_interval(months => ${monthsAgo}, days => 1),
      created_at = now() - make_interval(months => ${monthsAgo}, days => 2) WHERE id = ${campaignId}`);
  await database.query(sql.type(nothing)`
    UPDATE recipient SET state = CASE position WHEN 1 THEN 'UNKNOWN' ELSE 'DELIVERED' END,
      reason = CASE position WHEN 1 THEN 'OUTCOME_UNKNOWN' END,
      settlement = CASE position WHEN 1 THEN 'reserved' ELSE 'charged' END, price = ${messagePrice},
      provider_message_id = 'wamid.' || campaign_id || '.' || position,
      updated_at = now() - make_interval(months => ${monthsAgo})
    WHERE campaign_id = ${campaignId}`);
  await database.query(sql.type(nothing)`
    UPDATE campaign_counter SET pending = 0, unknown = 1, delivered = ${recipients - 1}, claimed_position = ${recipients}
    WHERE campaign_id = ${campaignId}`);
  await database.query(sql.type(nothing)`
    INSERT INTO campaign_reason (campaign_id, kind, reason, count) VALUES (${campaignId}, 'failed', 'OUTCOME_UNKNOWN', 1)`);
  await database.query(sql.type(nothing)`
    UPDATE wallet SET reserved = reserved + ${messagePrice} WHERE channel_id = ${channelId}`);
  return seeded;
}

/** Messages of one day, a second apart; the first one's outcome is unknown and its price reserved. */
export async function seedOldMessages(
  database: Database,
  { workspaceId, channelId }: SeededCampaign,
  { messages, at }: { readonly messages: number; readonly at: Date },
): Promise<void> {
  await database.query(sql.type(nothing)`
    INSERT INTO message (workspace_id, channel_id, direction, source, phone_number, content, state, settlement, price, created_at)
    SELECT ${workspaceId}, ${channelId}, 'outbound', 'api', '4915100000000', '{"text":"line 1\\nline ' || n || '"}',
      CASE n WHEN 1 THEN 'UNKNOWN' ELSE 'READ' END, CASE n WHEN 1 THEN 'reserved' ELSE 'charged' END, ${messagePrice},
      ${at.toISOString()}::timestamptz + n * interval '1 second'
    FROM generate_series(1, ${messages}) AS n`);
  await database.query(sql.type(nothing)`
    UPDATE wallet SET reserved = reserved + ${messagePrice} WHERE channel_id = ${channelId}`);
}
