/** Outbound messages outside campaigns: single sends and test messages. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import { messageSources } from '../../codecs/event.ts';
import { failedEvent, type ProviderError } from '../../domain/callbacks/message-status.ts';
import { recipientStates, statusBits } from '../../domain/campaigns/recipient.ts';
import { formsOf } from '../../domain/number-rules.ts';
import { contactsByNumber, isErased } from '../contacts/contacts.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row, timestamp } from '../database/row.ts';
import { emitEvents } from '../webhooks/events.ts';

const MessageId = row(t.type({ id: t.string }));

export interface NewOutboundMessage {
  readonly id: string;
  readonly workspaceId: number;
  readonly channelId: string;
  /** messageSource of its events. */
  readonly source: 'api' | 'campaign';
  readonly campaignId: string | null;
  readonly templateId: string;
  /** E.164 digits; not stored when `contactId` is given, because that person has no number. */
  readonly to: string;
  readonly contactId?: string;
  readonly country: string;
  /** Micro-units. */
  readonly price: bigint;
  /** How long the provider tries to deliver it. */
  readonly ttlSeconds: number;
}

const Claimed = row(t.type({ limited: t.boolean }));

/**
 * Reserves the price and writes the message as CLAIMED, before any request leaves. `limited`: the account has a messaging limit,
 * as of after the wallet was locked. Null, and nothing written, when the wallet does not cover it.
 */
export async function claimMessage(
  connection: Connection,
  message: NewOutboundMessage,
): Promise<{ readonly limited: boolean } | null> {
  const { contactId = null } = message;
  const phoneNumber = contactId === null ? message.to : null;
  const forms = phoneNumber === null ? [] : formsOf(phoneNumber);
  return connection.maybeOne(sql.type(Claimed)`
    WITH reserved_wallet AS (
      UPDATE wallet SET reserved = reserved + ${message.price}, updated_at = now()
      WHERE channel_id = ${message.channelId} AND balance - reserved >= ${message.price}
      RETURNING channel_id
    ), person AS (
      SELECT COALESCE(${contactId}::uuid, (SELECT contact.id
        FROM ${contactsByNumber(sql.fragment`${message.workspaceId}`, sql.fragment`${sql.array(forms, 'text')}`)}
        WHERE deleted_at IS NULL ORDER BY phone_number = ${phoneNumber}::text DESC LIMIT 1)) AS id
    ), claimed AS (
    INSERT INTO message (id, workspace_id, channel_id, direction, source, campaign_id, template_id, contact_id,
      conversation_id, phone_number, country, type, state, price, settlement, expires_at)
    SELECT ${message.id}, ${message.workspaceId}, reserved_wallet.channel_id, 'outbound', ${message.source},
      ${message.campaignId}::uuid, ${message.templateId}::uuid, person.id,
      (SELECT conversation.id FROM conversation
        WHERE channel_id = ${message.channelId} AND contact_id = person.id AND status <> 'closed'),
      ${phoneNumber}::text, ${message.country}, 'template', 'CLAIMED', ${message.price}, 'reserved',
      now() + make_interval(secs => ${message.ttlSeconds}, hours => 24)
    FROM reserved_wallet CROSS JOIN person
    RETURNING channel_id
    )
    SELECT present.limited FROM claimed CROSS JOIN LATERAL present_channel(claimed.channel_id) AS present`);
}

export type MessageResult =
  | { readonly state: 'ACCEPTED'; readonly providerMessageId: string }
  /** `error` is absent when the failure did not come from the provider. */
  | {
      readonly state: 'FAILED';
      readonly reason: string;
      readonly detail: string | null;
      readonly error?: ProviderError;
    }
  | { readonly state: 'UNKNOWN'; readonly detail: string };

/**
 * Records the outcome of a claimed message, and settles its money. Keeps what an earlier receipt has settled; an outcome
 * that arrives after the message became UNKNOWN still counts. A failure emits its event in the same transaction.
 */
export async function recordMessageResult(
  database: Connection,
  messageId: string,
  result: MessageResult,
): Promise<void> {
  if (result.state !== 'FAILED') return void (await database.query(resultStatement(messageId, result)));
  await database.transaction(async (transaction) => {
    const failed = await transaction.maybeOne(resultStatement(messageId, result));
    if (failed === null) return;
    const { workspaceId, at, source, ...message } = failed;
    const error = result.error ?? null;
    const event = failedEvent({ ...message, ...result, campaignId: null, source, error }, at);
    await emitEvents(transaction, workspaceId, [event]);
  });
}

const FailedOutboundMessage = row(
  t.type({
    id: t.string,
    providerMessageId: nullable(t.string),
    to: t.string,
    contactId: nullable(t.string),
    source: oneOf(messageSources),
    workspaceId: t.number,
    phoneNumberId: t.string,
    at: timestamp,
  }),
);

function resultStatement(messageId: string, result: MessageResult) {
  const reason = reasonOf(result);
  const erased = isErased({
    phoneNumber: sql.fragment`message.phone_number`,
    workspaceId: sql.fragment`message.workspace_id`,
    contactId: sql.fragment`message.contact_id`,
  });
  return sql.type(FailedOutboundMessage)`
    WITH present AS (
      SELECT id, channel_id, workspace_id, price, settlement,
        state = 'CLAIMED' OR (state = 'UNKNOWN' AND ${result.state} <> 'UNKNOWN') AS open
      FROM message WHERE id = ${messageId} FOR NO KEY UPDATE
    ), updated AS (
      UPDATE message SET
        state = CASE WHEN open THEN ${result.state} ELSE message.state END,
        reason = CASE WHEN open THEN ${reason}::text ELSE message.reason END,
        reason_detail = CASE WHEN open THEN ${'detail' in result ? result.detail : null}::text
          ELSE message.reason_detail END,
        settlement = CASE WHEN NOT open OR present.settlement <> 'reserved' OR ${result.state} = 'UNKNOWN'
            THEN present.settlement
          WHEN ${result.state} = 'ACCEPTED' THEN 'charged' ELSE 'none' END,
        provider_message_id = COALESCE(message.provider_message_id, CASE WHEN NOT ${erased}
          THEN ${'providerMessageId' in result ? result.providerMessageId : null}::text END),
        -- The event of the failure is emitted here, not by a later status.
        statuses_seen = message.statuses_seen | CASE WHEN open AND ${result.state} = 'FAILED'
          THEN ${statusBits.failed}::int2 ELSE 0::int2 END,
        updated_at = now()
      FROM present WHERE message.id = present.id
      RETURNING message.id, open, message.state, message.source, message.contact_id, message.phone_number,
        message.provider_message_id, message.template_id, present.channel_id, present.workspace_id, present.price, message.country,
        present.settlement = 'reserved' AND message.settlement = 'charged' AS charged,
        present.settlement = 'reserved' AND message.settlement <> 'reserved' AS released
    ), settled_wallet AS (
      UPDATE wallet SET reserved = reserved - updated.price,
        balance = balance - CASE WHEN charged THEN updated.price ELSE 0 END, updated_at = now()
      FROM updated WHERE released AND wallet.channel_id = updated.channel_id
    ), charge AS (
      INSERT INTO ledger_entry (channel_id, workspace_id, kind, amount, message_id, message_count, countries, category)
      SELECT channel_id, workspace_id, 'charge', -price, id, 1, jsonb_build_object(country, -price),
        (SELECT category FROM template WHERE template.id = updated.template_id) FROM updated WHERE charged AND price > 0
    )
    SELECT updated.id, provider_message_id AS "providerMessageId", contact_id AS "contactId", source,
      updated.workspace_id AS "workspaceId", channel.phone_number_id AS "phoneNumberId", now() AS at,
      COALESCE(phone_number, (SELECT provider_user_id FROM contact
        WHERE contact.workspace_id = updated.workspace_id AND contact.id = contact_id), '') AS to
    FROM updated JOIN channel ON channel.id = updated.channel_id
    WHERE open AND state = 'FAILED'`;
}

function reasonOf(result: MessageResult): string | null {
  if (result.state === 'UNKNOWN') return 'OUTCOME_UNKNOWN';
  return result.state === 'FAILED' ? result.reason : null;
}

const OutboundMessage = t.type({
  id: t.string,
  channelId: t.string,
  state: oneOf(recipientStates),
  reason: nullable(t.string),
  reasonDetail: nullable(t.string),
  providerMessageId: nullable(t.string),
  phoneNumber: nullable(t.string),
});
export type OutboundMessage = t.TypeOf<typeof OutboundMessage>;

export async function findOutboundMessage(
  connection: Connection,
  workspaceId: number,
  messageId: string,
): Promise<OutboundMessage | undefined> {
  const found = await connection.maybeOne(sql.type(row(OutboundMessage))`
    SELECT id, channel_id AS "channelId", state, reason, reason_detail AS "reasonDetail",
      provider_message_id AS "providerMessageId", phone_number AS "phoneNumber"
    FROM message WHERE id = ${messageId} AND workspace_id = ${workspaceId} AND direction = 'outbound'`);
  return found ?? undefined;
}

/** Marks messages UNKNOWN whose process died, after the grace period; their reservations stay. Returns how many. */
export async function expireClaimedMessages(
  connection: Connection,
  { graceSeconds, limit }: { readonly graceSeconds: number; readonly limit: number },
): Promise<number> {
  const expired = await connection.any(sql.type(MessageId)`
    UPDATE message SET state = 'UNKNOWN', reason = 'OUTCOME_UNKNOWN',
      reason_detail = 'The process that was sending it ended before it knew the outcome', updated_at = now()
    WHERE id IN (
      SELECT id FROM message
      WHERE state = 'CLAIMED' AND created_at < now() - make_interval(secs => ${graceSeconds})
      ORDER BY created_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED)
    RETURNING id`);
  return expired.length;
}
