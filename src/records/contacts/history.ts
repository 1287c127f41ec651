/** Messages to and from one contact, newest first: for the contact's page and a conversation's thread. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { listCursorPage, type CursorPage } from '../database/page.ts';
import { nullable, timestamp } from '../database/row.ts';
import { messagesOf } from './person-rows.ts';

const HistoryRow = t.type({
  id: t.string,
  at: timestamp,
  channelId: t.string,
  direction: t.union([t.literal('inbound'), t.literal('outbound')]),
  type: t.string,
  state: t.string,
  reason: nullable(t.string),
  /** The provider's JSON text of an inbound message. */
  content: nullable(t.string),
  templateId: nullable(t.string),
  templateName: nullable(t.string),
  campaignId: nullable(t.string),
  campaignName: nullable(t.string),
});
export type HistoryEntry = t.TypeOf<typeof HistoryRow>;

export interface HistoryQuery {
  readonly workspaceId: number;
  readonly contactId: string;
  /** Restricts the history to this channel. */
  readonly channelId?: string | undefined;
  /** The last entry of the previous page. */
  readonly after?: { readonly at: Date; readonly id: string } | undefined;
  readonly limit: number;
}

/**
 * Reads single messages by the contact's conversations and number, and campaign recipients by number, each with its index. A number
 * counts in every form.
 * Waiting and skipped recipients are left out.
 */
export function listHistory(
  connection: Connection,
  { workspaceId, contactId, channelId, after, limit }: HistoryQuery,
): Promise<CursorPage<HistoryEntry>> {
  const rest =
    after === undefined
      ? sql.fragment`TRUE`
      : sql.fragment`(at, id) < (${after.at.toISOString()}::timestamptz, ${after.id}::uuid)`;
  const channel = channelId === undefined ? sql.fragment`TRUE` : sql.fragment`"channelId" = ${channelId}`;
  const rows = sql.fragment`
    WITH person AS (
      SELECT id, number_forms(phone_number) AS numbers FROM contact WHERE workspace_id = (SELECT ${workspaceId}::int) AND id = ${contactId}
    ), listed AS (
      -- A cursor holds milliseconds.
      SELECT message.id, date_trunc('milliseconds', message.created_at) AS at, message.channel_id AS "channelId", message.direction, message.type,
        message.state, message.reason, message.content, message.template_id AS "templateId",
        message.campaign_id AS "campaignId"
      FROM (${messagesOf({
        workspaceId,
        contactId: sql.fragment`(SELECT id FROM person)`,
        numbers: sql.fragment`(SELECT numbers FROM person)`,
      })}) AS own
      CROSS JOIN LATERAL (SELECT * FROM message WHERE message.id = own.id OFFSET 0) AS message
      UNION ALL
      SELECT recipient.id, date_trunc('milliseconds', COALESCE(recipient.accepted_at, recipient.updated_at)), campaign.channel_id, 'outbound', 'template',
        recipient.state, recipient.reason, NULL, campaign.template_id, campaign.id
      FROM campaign CROSS JOIN unnest((SELECT numbers FROM person)) AS form (number)
      CROSS JOIN LATERAL (
        SELECT * FROM recipient WHERE recipient.campaign_id = campaign.id AND recipient.sendable
          AND recipient.phone_number = form.number OFFSET 0
      ) AS recipient
      WHERE campaign.workspace_id = ${workspaceId} AND recipient.state NOT IN ('PENDING', 'CANCELLED')
    )
    SELECT listed.*, template.name AS "templateName", campaign.name AS "campaignName"
    FROM (SELECT * FROM listed WHERE ${rest} AND ${channel} ORDER BY at DESC, id DESC LIMIT ${limit + 1}) AS listed
    LEFT JOIN template ON template.id = listed."templateId"
    LEFT JOIN campaign ON campaign.id = listed."campaignId"`;
  return listCursorPage(connection, {
    props: HistoryRow.props,
    rows,
    order: sql.fragment`at DESC, id DESC`,
    size: sql.fragment`coalesce(octet_length(content), 0)`,
    limit,
  });
}
