/** Channels as provider callbacks name them: by phone number id or by business account, without a workspace. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import { channelBlocked, channelQualityChanged } from '../../domain/operations/notice.ts';
import type { ChannelBlockCause } from '../../domain/sending/provider-error.ts';
import { insertNotices } from '../operations/notices.ts';
import type { Connection } from '../database/database.ts';
import { nothing, row } from '../database/row.ts';

const NotifiedChannel = t.type({
  id: t.string,
  workspaceId: t.number,
  phoneNumberId: t.string,
  responder: oneOf(['none', 'chatbot', 'assistant']),
});
export type NotifiedChannel = t.TypeOf<typeof NotifiedChannel>;

const selection = sql.fragment`
  channel.id, channel.workspace_id AS "workspaceId", channel.phone_number_id AS "phoneNumberId", channel.responder`;

export async function findNotifiedChannels(
  connection: Connection,
  phoneNumberIds: readonly string[],
): Promise<ReadonlyMap<string, NotifiedChannel>> {
  if (phoneNumberIds.length === 0) return new Map();
  const channels = await connection.any(sql.type(row(NotifiedChannel))`
    SELECT ${selection} FROM channel WHERE phone_number_id = ANY(${sql.array(phoneNumberIds, 'text')})`);
  return new Map(channels.map((channel) => [channel.phoneNumberId, channel]));
}

const ChannelId = row(t.type({ id: t.string }));
const NoticedChannel = row(t.type({ id: t.string, workspaceId: t.number, displayPhoneNumber: t.string }));
const noticedChannel = sql.fragment`
  channel.id, channel.workspace_id AS "workspaceId", channel.display_phone_number AS "displayPhoneNumber"`;
export interface ChannelRefusal {
  /** The provider's error code. */
  readonly code: number;
  readonly cause: ChannelBlockCause;
}

/**
 * Records why the provider last refused whole channels. Skips a row that another transaction holds: refusals come while
 * campaigns are locked, and a wait in this order could end in a deadlock.
 */
export async function recordRefusal(
  connection: Connection,
  channelIds: readonly string[],
  { code, cause }: ChannelRefusal,
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE channel SET refusal_code = ${code}, refusal_cause = ${cause}, refused_at = now()
    WHERE id IN (
      SELECT id FROM channel WHERE id = ANY (${sql.array([...channelIds], 'uuid')}) FOR NO KEY UPDATE SKIP LOCKED)`);
}

/** Ids of all channels of the channel's business account. */
export const listChannelsOfSameAccount = (
  connection: Connection,
  channelId: string,
): Promise<readonly string[]> =>
  connection.anyFirst(sql.type(ChannelId)`
    SELECT id FROM channel
    WHERE business_account_id = (SELECT business_account_id FROM channel WHERE id = ${channelId}) ORDER BY id`);

const accountBlock = 'ACCOUNT_UPDATE ';

export interface AccountBlock {
  readonly businessAccountId: string;
  /** Reason, as the provider names it. */
  readonly event: string;
  /** Null: until it is lifted. */
  readonly until: Date | null;
}

/**
 * Blocks the channels of a business account, except those that an operator has blocked, and writes their notices. Of two blocks
 * the longer one stays. Returns the ids of the channels.
 */
export async function blockChannelsOfAccount(
  connection: Connection,
  { businessAccountId, event, until }: AccountBlock,
): Promise<readonly string[]> {
  const end = sql.fragment`${until?.toISOString() ?? null}::timestamptz`;
  const blocked = await connection.any(sql.type(NoticedChannel)`
    UPDATE channel SET status = 'blocked', block_reason = ${`${accountBlock}${event}`}, updated_at = now(),
      blocked_until = CASE WHEN ${end} IS NULL THEN NULL ELSE GREATEST(blocked_until, ${end}) END
    WHERE business_account_id = ${businessAccountId} AND (status = 'active'
      OR (starts_with(block_reason, ${accountBlock}) AND blocked_until IS NOT NULL
        AND (${end} IS NULL OR blocked_until < ${end})))
    RETURNING ${noticedChannel}`);
  await insertNotices(
    connection,
    blocked.map((channel) => channelBlocked(channel, event, until)),
  );
  return blocked.map(({ id }) => id);
}

/** Lifts what `blockChannelsOfAccount` did, and nothing an operator blocked. Returns the ids. */
export async function unblockChannelsOfAccount(
  connection: Connection,
  businessAccountId: string,
): Promise<readonly string[]> {
  const unblocked = await connection.any(sql.type(ChannelId)`
    UPDATE channel SET status = 'active', block_reason = NULL, blocked_until = NULL, updated_at = now()
    WHERE business_account_id = ${businessAccountId} AND status = 'blocked'
      AND starts_with(block_reason, ${accountBlock})
    RETURNING id`);
  return unblocked.map(({ id }) => id);
}

/** Lifts the provider's blocks whose time has passed. Returns the ids. */
export async function liftEndedBlocks(connection: Connection): Promise<readonly string[]> {
  const lifted = await connection.any(sql.type(ChannelId)`
    UPDATE channel SET status = 'active', block_reason = NULL, blocked_until = NULL, updated_at = now()
    WHERE blocked_until <= now() AND status = 'blocked' AND starts_with(block_reason, ${accountBlock})
    RETURNING id`);
  return lifted.map(({ id }) => id);
}

const RatedChannel = row(
  t.type({ id: t.string, workspaceId: t.number, displayPhoneNumber: t.string, changed: t.boolean }),
);

/** Sets the quality of the account's channel with that number, in digits; a report older than the last one changes nothing. */
export async function setChannelQuality(
  connection: Connection,
  businessAccountId: string,
  {
    number,
    is,
    reportedAt,
  }: { readonly number: string; readonly is: 'LOW' | 'GOOD'; readonly reportedAt: Date },
): Promise<void> {
  const at = sql.fragment`${reportedAt.toISOString()}::timestamptz`;
  const rated = await connection.any(sql.type(RatedChannel)`
    UPDATE channel SET quality = ${is}, quality_reported_at = ${at}, updated_at = now()
    WHERE business_account_id = ${businessAccountId} AND regexp_replace(display_phone_number, '[^0-9]', '', 'g') = ${number}
      AND (quality_reported_at IS NULL OR quality_reported_at <= ${at})
    RETURNING ${noticedChannel}, old.quality IS DISTINCT FROM new.quality AS changed`);
  await insertNotices(
    connection,
    rated.filter(({ changed }) => changed).map((channel) => channelQualityChanged(channel, is)),
  );
}

/** What the provider says about a number; an answer older than the last report of its quality does not change that. */
export interface ReportedHealth {
  readonly canSend: string | null;
  readonly details: string | null;
  readonly quality: 'LOW' | 'GOOD' | null;
  readonly reportedAt: Date;
}

/** The first quality is no news unless it is low. */
export async function saveNumberHealth(
  connection: Connection,
  channelId: string,
  { canSend, details, quality, reportedAt }: ReportedHealth,
): Promise<void> {
  const at = sql.fragment`${reportedAt.toISOString()}::timestamptz`;
  const isNews = sql.fragment`(${quality}::text IS NOT NULL AND coalesce(quality_reported_at, '-infinity') <= ${at}
    AND coalesce(quality, 'GOOD') <> ${quality})`;
  const rated = await connection.any(sql.type(RatedChannel)`
    UPDATE channel SET can_send = ${canSend}, can_send_details = ${details}, health_read_at = ${at},
      quality = CASE WHEN ${isNews} THEN ${quality} ELSE quality END,
      quality_reported_at = CASE WHEN ${isNews} THEN ${at} ELSE quality_reported_at END
    WHERE id = ${channelId}
    RETURNING ${noticedChannel}, old.quality IS DISTINCT FROM new.quality AS changed`);
  if (quality === null) return;
  await insertNotices(
    connection,
    rated.filter(({ changed }) => changed).map((channel) => channelQualityChanged(channel, quality)),
  );
}

/** Stores that the provider does not deliver from this channel to `country` (ISO 3166 alpha-2). */
export async function addBlockedCountry(
  connection: Connection,
  { channelId, country }: { readonly channelId: string; readonly country: string },
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE channel SET blocked_countries = array_append(blocked_countries, ${country}), updated_at = now()
    WHERE id = ${channelId} AND NOT (${country} = ANY(blocked_countries))`);
}
