/** The sending context: the facts about campaign, channel and template that a send step reads once. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { NotFound } from '../../domain/error.ts';
import type { Connection } from '../database/database.ts';
import { bytes, nullable, row } from '../database/row.ts';

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
  failed: t.number,
  template_name: t.string,
  template_language: t.string,
  template_category: t.string,
  /** True: marketing templates use the provider's endpoint for marketing messages. */
  marketing_endpoint: t.boolean,
  /** The business account has a messaging limit. */
  limited: t.boolean,
  channel_blocked: t.boolean,
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
      channel_rate.answer_ms, channel_rate.pace_share, campaign_counter.pending, campaign_counter.claimed, campaign_counter.failed,
      template.name AS template_name, template.language AS template_language, template.category AS template_category,
      extract(epoch FROM clock_timestamp())::float8 * 1000 AS now
    FROM campaign
    JOIN channel ON channel.id = campaign.channel_id
    JOIN business_account ON business_account.id = channel.business_account_id
    JOIN channel_rate ON channel_rate.channel_id = channel.id
    JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id
    JOIN template ON template.id = campaign.template_id
    WHERE campaign.id = ${campaignId}`);
  if (found === null) throw new NotFound('Campaign');
  return found;
}

const Answered = row(t.type({ reason: nullable(t.string) }));

/**
 * Reasons of the last 99 recipients that the provider answered, the last first; null for those without one, and for all from
 * before the campaign was last started. Looks at the last 1,000 positions that were claimed: a run of skipped recipients may be
 * as long as the campaign. Empty once every position was claimed: what is answered then are retries.
 */
export async function listLastReasons(
  connection: Connection,
  campaignId: string,
): Promise<readonly (string | null)[]> {
  const answered = await connection.any(sql.type(Answered)`
    SELECT last.reason
    FROM campaign JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id,
      LATERAL (
        SELECT position, CASE WHEN updated_at >= campaign.updated_at THEN reason END AS reason
        FROM recipient
        WHERE campaign_id = campaign.id
          AND campaign_counter.claimed_position < campaign.total_contacts + campaign.total_contacts_skipped
          AND position BETWEEN campaign_counter.claimed_position - 999 AND campaign_counter.claimed_position
          AND state NOT IN ('PENDING', 'CLAIMED', 'CANCELLED', 'SKIPPED')
        ORDER BY position DESC LIMIT 99) AS last
    WHERE campaign.id = ${campaignId}
    ORDER BY last.position DESC`);
  return answered.map(({ reason }) => reason);
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
