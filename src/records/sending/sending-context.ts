/** The sending context: the facts about campaign, channel and template that a send step reads once. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { FrequencyCap } from '../../codecs/frequency-cap.ts';
import { NotFound } from '../../domain/error.ts';
import type { Connection } from '../database/database.ts';
import { bytes, nullable, row, timestamp } from '../database/row.ts';
import { gateLeft, isBraked } from './failure-brake.ts';

const SendingContext = t.type({
  campaign_id: t.string,
  workspace_id: t.number,
  channel_id: t.string,
  template_id: t.string,
  epoch: t.number,
  message_plan: nullable(t.unknown),
  phone_number_id: t.string,
  access_token_encrypted: bytes,
  messages_per_second: t.number,
  /** Median time to an answer of the provider, in ms. */
  answer_ms: t.number,
  /** The share of the rate that the provider's answers let through; null: all of it. */
  pace_share: nullable(t.number),
  pending: t.number,
  claimed: t.number,
  /** Messages that may leave before sending waits for their statuses; null: as many as there are. */
  gate_left: nullable(t.number),
  /** The failure brake has decided that the campaign pauses. */
  is_braked: t.boolean,
  template_name: t.string,
  template_language: t.string,
  template_category: t.string,
  upcoming_category: nullable(t.string),
  upcoming_category_at: nullable(timestamp),
  template_ttl_seconds: nullable(t.number),
  /** The category at whose prices the campaign began; null if an earlier release began it. */
  priced_category: nullable(t.string),
  /** True: marketing templates use the provider's endpoint for marketing messages. */
  marketing_endpoint: t.boolean,
  /** The business account has a messaging limit. */
  limited: t.boolean,
  channel_blocked: t.boolean,
  /** The workspace's, unless the campaign is exempt from it. */
  frequency_cap: nullable(FrequencyCap),
  /** Epoch milliseconds on Postgres' clock. */
  now: t.number,
});
export type SendingContext = t.TypeOf<typeof SendingContext>;

/** Throws NotFound. */
export async function getSendingContext(connection: Connection, campaignId: string): Promise<SendingContext> {
  const found = await connection.maybeOne(sql.type(row(SendingContext))`
    SELECT campaign.id AS campaign_id, campaign.workspace_id, campaign.channel_id, campaign.template_id,
      campaign.epoch, campaign.message_plan,
      channel.phone_number_id, channel.access_token_encrypted, channel.messages_per_second, channel.marketing_endpoint,
      business_account.messaging_limit IS NOT NULL AS limited, channel.status <> 'active' AS channel_blocked,
      channel_rate.answer_ms, channel_rate.pace_share, campaign_counter.pending, campaign_counter.claimed,
      ${gateLeft} AS gate_left, ${isBraked} AS is_braked,
      template.name AS template_name, template.language AS template_language, template.category AS template_category,
      template.upcoming_category, template.upcoming_category_at, template.message_send_ttl_seconds AS template_ttl_seconds,
      campaign.priced_category,
      CASE WHEN NOT campaign.ignore_frequency_cap
        THEN (SELECT frequency_cap FROM workspace WHERE id = campaign.workspace_id) END AS frequency_cap,
      extract(epoch FROM clock_timestamp())::float8 * 1000 AS now
    FROM campaign
    JOIN channel ON channel.id = campaign.channel_id
    JOIN business_account ON business_account.id = channel.business_account_id
    JOIN channel_rate ON channel_rate.channel_id = channel.id
    JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id
    JOIN template ON template.id = campaign.template_id
    LEFT JOIN campaign_brake ON campaign_brake.campaign_id = campaign.id
    WHERE campaign.id = ${campaignId}`);
  if (found === null) throw new NotFound('Campaign');
  return found;
}

const Unchanged = row(t.type({ unchanged: t.boolean }));

/** False once the campaign was paused, cancelled or started again. */
export async function isRunningEpoch(
  connection: Connection,
  { campaign_id: campaignId, epoch }: Pick<SendingContext, 'campaign_id' | 'epoch'>,
): Promise<boolean> {
  const found = await connection.maybeOne(sql.type(Unchanged)`
    SELECT status = 'RUNNING' AND epoch = ${epoch} AS unchanged FROM campaign WHERE id = ${campaignId}`);
  return found?.unchanged === true;
}

const NextCountry = row(t.type({ country: t.string }));

/** The country of the recipient who is sent to next; undefined if only retries are left. */
export async function findNextCountry(
  connection: Connection,
  campaignId: string,
): Promise<string | undefined> {
  const found = await connection.maybeOneFirst(sql.type(NextCountry)`
    SELECT country FROM recipient WHERE campaign_id = ${campaignId} AND sendable
      AND position > (SELECT claimed_position FROM campaign_counter WHERE campaign_id = ${campaignId})
    ORDER BY position LIMIT 1`);
  return found ?? undefined;
}
