/** Campaigns and messages of some months ago. */
import { sql } from 'slonik';
import type { Database } from '../../src/records/database/database.ts';
import { nothing } from '../../src/records/database/row.ts';
import { messagePrice, seedCampaign, type SeededCampaign } from './campaign-factory.ts';

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
