/** Messages as the API shows them: single sends, test messages, replies, and by id also the messages of campaigns. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import { recipientStates } from '../../domain/campaigns/recipient.ts';
import { notFound } from '../../domain/error.ts';
import type { Connection } from '../database/database.ts';
import { listCursorPage, type CursorPage } from '../database/page.ts';
import { nullable, row, timestamp } from '../database/row.ts';

const messageStates = [...recipientStates, 'RECEIVED'] as const;
export type MessageState = (typeof messageStates)[number];

const MessageFields = t.type({
  id: t.string,
  direction: oneOf(['outbound', 'inbound']),
  source: t.string,
  state: oneOf(messageStates),
  reason: nullable(t.string),
  reasonDetail: nullable(t.string),
  channelId: t.string,
  phoneNumberId: t.string,
  phoneNumber: nullable(t.string),
  contactId: nullable(t.string),
  conversationId: nullable(t.string),
  campaignId: nullable(t.string),
  templateId: nullable(t.string),
  type: t.string,
  content: nullable(t.string),
  providerMessageId: nullable(t.string),
  createdAt: timestamp,
  updatedAt: timestamp,
});
export type MessageRow = t.TypeOf<typeof MessageFields>;

const selection = sql.fragment`
  message.id, message.direction, message.source, message.state, message.reason, message.reason_detail AS "reasonDetail",
  message.channel_id AS "channelId",
  (SELECT phone_number_id FROM channel WHERE channel.id = message.channel_id) AS "phoneNumberId",
  message.phone_number AS "phoneNumber", message.contact_id AS "contactId", message.conversation_id AS "conversationId",
  message.campaign_id AS "campaignId", message.template_id AS "templateId", message.type, message.content,
  message.provider_message_id AS "providerMessageId", message.created_at AS "createdAt", message.updated_at AS "updatedAt"`;

/** Undefined fields do not restrict the list. */
export interface MessageFilter {
  /** E.164 digits: messages to or from any of these numbers. */
  readonly phoneNumbers?: readonly string[] | undefined;
  readonly contactId?: string | undefined;
  readonly campaignId?: string | undefined;
  readonly states: readonly MessageState[];
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

interface MessagePageRequest {
  /** The last message of the previous page. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** Newest first. Every way to narrow the list reads an index in this order. */
export function listMessages(
  connection: Connection,
  workspaceId: number,
  { states, after, limit, ...filter }: MessageFilter & MessagePageRequest,
): Promise<CursorPage<MessageRow>> {
  const conditions = [
    sql.fragment`message.workspace_id = ${workspaceId}`,
    ...(filter.contactId === undefined ? [] : [sql.fragment`message.contact_id = ${filter.contactId}`]),
    ...(filter.campaignId === undefined ? [] : [sql.fragment`message.campaign_id = ${filter.campaignId}`]),
    ...(filter.from === undefined ? [] : [sql.fragment`message.created_at >= ${filter.from.toISOString()}`]),
    ...(filter.to === undefined ? [] : [sql.fragment`message.created_at < ${filter.to.toISOString()}`]),
    ...(after === undefined ? [] : [isBehind(workspaceId, after)]),
  ];
  const select = (more: readonly ReturnType<typeof sql.fragment>[]) => sql.fragment`
    SELECT ${selection} FROM message WHERE ${sql.join([...conditions, ...more], sql.fragment` AND `)}
    ORDER BY message.created_at DESC, message.id DESC LIMIT ${limit + 1}`;
  // Each state and each number in a scan of its own: one for several would read every message in between.
  const byState = [...new Set(states)].map((state) => sql.fragment`message.state = ${state}`);
  const byNumber = [...new Set(filter.phoneNumbers)].map(
    (number) => sql.fragment`message.phone_number = ${number}`,
  );
  const wanted =
    byState.length === 0
      ? byNumber.map((number) => [number])
      : byState.flatMap((state) =>
          byNumber.length === 0 ? [[state]] : byNumber.map((number) => [state, number]),
        );
  const rows =
    wanted.length === 0
      ? select([])
      : sql.fragment`${sql.join(
          wanted.map((more) => sql.fragment`(${select(more)})`),
          sql.fragment` UNION ALL `,
        )}`;
  return listCursorPage(connection, {
    props: MessageFields.props,
    rows,
    order: sql.fragment`"createdAt" DESC, id DESC`,
    size: sql.fragment`coalesce(octet_length(content), 0)`,
    limit,
  });
}

const isBehind = (workspaceId: number, after: string) => sql.fragment`
  (message.created_at, message.id) < (
    (SELECT created_at FROM message WHERE workspace_id = ${workspaceId} AND id = ${after}), ${after}::uuid)`;

/** Finds the messages of campaigns as well, whose rows are their recipients. Throws NotFound. */
export async function getMessage(
  connection: Connection,
  workspaceId: number,
  messageId: string,
): Promise<MessageRow> {
  const found = await connection.maybeOne(sql.type(row(MessageFields))`
    SELECT ${selection} FROM message WHERE message.id = ${messageId} AND message.workspace_id = ${workspaceId}
    UNION ALL
    SELECT recipient.id, 'outbound', 'campaign', recipient.state, recipient.reason, recipient.reason_detail,
      campaign.channel_id, (SELECT phone_number_id FROM channel WHERE channel.id = campaign.channel_id),
      recipient.phone_number, recipient.contact_id, NULL, campaign.id, campaign.template_id, 'template', NULL,
      recipient.provider_message_id, 
      coalesce(uuid_extract_timestamp(recipient.id), recipient.updated_at), recipient.updated_at
    FROM recipient JOIN campaign ON campaign.id = recipient.campaign_id
    WHERE recipient.id = ${messageId} AND recipient.sendable AND campaign.workspace_id = ${workspaceId}`);
  return found ?? notFound('Message');
}
