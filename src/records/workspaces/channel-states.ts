/** Reads the channels of a workspace: whether and how fast each may send now. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import { waitingReasons } from '../../domain/campaigns/campaign.ts';
import { channelBlockCauses } from '../../domain/sending/provider-error.ts';
import { notFound } from '../../domain/error.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row, timestamp } from '../database/row.ts';
import { effectiveFactor, silentUntil, openUntil } from '../sending/channel-rate.ts';
import { isAtLimit, quotaFreesAt, quotaKey, reachedOf } from '../sending/messaging-limit.ts';

export const channelQualities = ['GOOD', 'LOW'] as const;

const ChannelState = t.type({
  id: t.string,
  phone_number_id: t.string,
  display_phone_number: t.string,
  business_account_id: t.string,
  status: t.union([t.literal('active'), t.literal('blocked')]),
  block_reason: nullable(t.string),
  refusal_code: nullable(t.number),
  refusal_cause: nullable(oneOf(channelBlockCauses)),
  refused_at: nullable(timestamp),
  blocked_until: nullable(timestamp),
  blocked_countries: t.array(t.string),
  messages_per_second: t.number,
  factor: t.number,
  waiting_for: nullable(oneOf(waitingReasons)),
  held_until: nullable(timestamp),
  running_campaigns: t.number,
  quality: nullable(oneOf(channelQualities)),
  can_send: nullable(t.string),
  can_send_details: nullable(t.string),
  messaging_limit: nullable(t.number),
  messaging_used: nullable(t.number),
  messaging_room_at: nullable(timestamp),
  marketing_endpoint: t.boolean,
  account_notice: nullable(t.UnknownRecord),
});
export type ChannelState = t.TypeOf<typeof ChannelState>;

const stateOf = (workspaceId: number) => sql.fragment`
  SELECT channel.id, phone_number_id, display_phone_number, business_account_id, channel.status, block_reason,
    refusal_code, refusal_cause, refused_at, blocked_until, blocked_countries, messages_per_second, ${effectiveFactor} AS factor,
    CASE WHEN times_opened > 0 THEN 'CHANNEL_TROUBLE' WHEN ${silentUntil} > now() THEN 'CHANNEL_THROTTLE'
      WHEN ${isAtLimit} THEN 'MESSAGING_LIMIT' END AS waiting_for,
    CASE WHEN times_opened > 0 THEN ${openUntil} WHEN ${silentUntil} > now() THEN silent_until END AS held_until,
    (SELECT count(*)::int4 FROM campaign WHERE campaign.channel_id = channel.id AND campaign.status = 'RUNNING')
      AS running_campaigns, quality, can_send, can_send_details,
    messaging_limit, CASE WHEN messaging_limit IS NOT NULL THEN ${reachedOf(quotaKey)} END AS messaging_used,
    CASE WHEN ${isAtLimit} THEN ${quotaFreesAt(quotaKey)} END AS messaging_room_at, marketing_endpoint,
    business_account.notice AS account_notice
  FROM channel JOIN channel_rate ON channel_rate.channel_id = channel.id
    JOIN business_account ON business_account.id = channel.business_account_id
  WHERE channel.workspace_id = ${workspaceId}`;

export function listChannelStates(connection: Connection, workspaceId: number) {
  return connection.any(sql.type(row(ChannelState))`${stateOf(workspaceId)} ORDER BY channel.id`);
}

/** Throws NotFound, for a channel of another workspace too. */
export async function getChannelState(
  connection: Connection,
  workspaceId: number,
  channelId: string,
): Promise<ChannelState> {
  const found = await connection.maybeOne(
    sql.type(row(ChannelState))`${stateOf(workspaceId)} AND channel.id = ${channelId}`,
  );
  return found ?? notFound('Channel');
}
