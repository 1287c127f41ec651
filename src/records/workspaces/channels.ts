/** Sending numbers. Access tokens are returned encrypted, as they are stored (`SecretBox`). */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { notFound } from '../../domain/error.ts';
import type { Connection } from '../database/database.ts';
import { asConflict } from '../database/failure.ts';
import { bytes, nothing, nullable, row } from '../database/row.ts';

const Channel = t.type({
  id: t.string,
  workspaceId: t.number,
  businessAccountId: t.string,
  phoneNumberId: t.string,
  displayPhoneNumber: t.string,
  accessTokenEncrypted: bytes,
  messagesPerSecond: t.number,
  status: t.union([t.literal('active'), t.literal('blocked')]),
  blockReason: nullable(t.string),
  /** ISO 3166 alpha-2 codes this channel never sends to. */
  blockedCountries: t.array(t.string),
  responder: t.union([t.literal('none'), t.literal('chatbot'), t.literal('assistant')]),
  /** True: marketing templates use the provider's endpoint for marketing messages. */
  marketingEndpoint: t.boolean,
});
export type Channel = t.TypeOf<typeof Channel>;

const selection = sql.fragment`
  channel.id, channel.workspace_id AS "workspaceId", channel.business_account_id AS "businessAccountId",
  channel.phone_number_id AS "phoneNumberId", channel.display_phone_number AS "displayPhoneNumber",
  channel.access_token_encrypted AS "accessTokenEncrypted", channel.messages_per_second AS "messagesPerSecond",
  channel.status, channel.block_reason AS "blockReason", channel.blocked_countries AS "blockedCountries",
  channel.responder, channel.marketing_endpoint AS "marketingEndpoint"`;

export interface NewChannel {
  readonly id: string;
  readonly businessAccountId: string;
  readonly phoneNumberId: string;
  readonly displayPhoneNumber: string;
  readonly accessTokenEncrypted: Buffer;
  readonly messagesPerSecond: number;
}

/** Inserts a channel with its rate schedule and an empty wallet. Throws Conflict when the phone number id is taken. */
export async function insertChannel(
  connection: Connection,
  workspaceId: number,
  channel: NewChannel,
): Promise<void> {
  await connection
    .query(sql.type(nothing)`
    WITH inserted AS (
      INSERT INTO channel (id, workspace_id, business_account_id, phone_number_id, display_phone_number,
        access_token_encrypted, messages_per_second)
      VALUES (${channel.id}, ${workspaceId}, ${channel.businessAccountId}, ${channel.phoneNumberId},
        ${channel.displayPhoneNumber}, ${sql.binary(channel.accessTokenEncrypted)}, ${channel.messagesPerSecond})
      RETURNING id, workspace_id
    ), rate AS (
      INSERT INTO channel_rate (channel_id) SELECT id FROM inserted
    )
    INSERT INTO wallet (channel_id, workspace_id, currency)
    SELECT id, workspace_id, coalesce((SELECT currency FROM business_account WHERE id = ${channel.businessAccountId}), 'USD')
    FROM inserted`)
    .catch(asConflict('The phone number id belongs to another channel'));
}

/** Settings of a channel that an operator may change. */
export type ChannelSettings = Pick<
  Channel,
  | 'accessTokenEncrypted'
  | 'messagesPerSecond'
  | 'status'
  | 'blockReason'
  | 'blockedCountries'
  | 'responder'
  | 'marketingEndpoint'
>;

export async function updateChannelSettings(
  connection: Connection,
  channelId: string,
  settings: ChannelSettings & { readonly forgetRefusal: boolean },
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE channel SET access_token_encrypted = ${sql.binary(settings.accessTokenEncrypted)},
      messages_per_second = ${settings.messagesPerSecond}, status = ${settings.status},
      block_reason = ${settings.blockReason}, responder = ${settings.responder},
      marketing_endpoint = ${settings.marketingEndpoint},
      blocked_until = CASE WHEN ${settings.blockReason}::text IS NULL THEN NULL ELSE blocked_until END,
      refusal_code = CASE WHEN ${settings.forgetRefusal} THEN NULL ELSE refusal_code END,
      refusal_cause = CASE WHEN ${settings.forgetRefusal} THEN NULL ELSE refusal_cause END,
      refused_at = CASE WHEN ${settings.forgetRefusal} THEN NULL ELSE refused_at END,
      blocked_countries = ${sql.array(settings.blockedCountries, 'text')}, updated_at = now()
    WHERE id = ${channelId}`);
}

/** Returns a channel of this workspace; throws NotFound for any other. */
export async function getChannel(
  connection: Connection,
  workspaceId: number,
  channelId: string,
): Promise<Channel> {
  const found = await connection.maybeOne(sql.type(row(Channel))`
    SELECT ${selection} FROM channel WHERE workspace_id = ${workspaceId} AND id = ${channelId}`);
  return found ?? notFound('Channel');
}

/** Finds a channel of any workspace, for callers that have its id from one of our records. */
export async function findChannelById(
  connection: Connection,
  channelId: string,
): Promise<Channel | undefined> {
  const found = await connection.maybeOne(sql.type(row(Channel))`
    SELECT ${selection} FROM channel WHERE id = ${channelId}`);
  return found ?? undefined;
}

/** Locks the row, so that its values stay true until the transaction ends; to be called before campaigns are locked. */
export async function lockChannel(transaction: Connection, channelId: string): Promise<Channel> {
  const found = await transaction.maybeOne(sql.type(row(Channel))`
    SELECT ${selection} FROM channel WHERE id = ${channelId} FOR NO KEY UPDATE`);
  return found ?? notFound('Channel');
}

export async function listChannelsOfBusinessAccount(
  connection: Connection,
  workspaceId: number,
  businessAccountId: string,
): Promise<readonly Channel[]> {
  return connection.any(sql.type(row(Channel))`
    SELECT ${selection} FROM channel
    WHERE workspace_id = ${workspaceId} AND business_account_id = ${businessAccountId} ORDER BY id`);
}
