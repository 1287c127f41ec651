/** Reservations of messages whose outcome is UNKNOWN. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { row } from '../database/row.ts';

export interface UnknownMessages {
  readonly workspaceId: number;
  /** Absent: all campaigns and single sends. */
  readonly campaignId: string | undefined;
  readonly olderThanHours: number;
  readonly limit: number;
}

/** `amount` in micro-units. */
const Released = t.type({ messages: t.number, amount: t.bigint });
export type ReleasedMoney = t.TypeOf<typeof Released>;

/**
 * Releases the reservations of one batch; the messages stay UNKNOWN, and a later receipt charges them. Recipients and messages
 * are locked before the wallet.
 */
export async function releaseUnknown(
  connection: Connection,
  { workspaceId, campaignId, olderThanHours, limit }: UnknownMessages,
): Promise<ReleasedMoney> {
  const before = sql.fragment`now() - make_interval(hours => ${olderThanHours})`;
  const campaign = sql.fragment`${campaignId ?? null}::uuid`;
  return connection.one(sql.type(row(Released))`
    WITH due AS (
      SELECT recipient.campaign_id, recipient.position, campaign.channel_id, recipient.price
      FROM campaign JOIN recipient ON recipient.campaign_id = campaign.id AND recipient.reason IS NOT NULL
      WHERE campaign.workspace_id = ${workspaceId} AND (${campaign} IS NULL OR campaign.id = ${campaign})
        AND recipient.state = 'UNKNOWN' AND recipient.settlement = 'reserved' AND recipient.updated_at < ${before}
      ORDER BY recipient.campaign_id, recipient.position LIMIT ${limit}
      FOR NO KEY UPDATE OF recipient SKIP LOCKED
    ), due_message AS (
      SELECT id, channel_id, price FROM message
      WHERE workspace_id = ${workspaceId} AND (${campaign} IS NULL OR campaign_id = ${campaign})
        AND state = 'UNKNOWN' AND settlement = 'reserved' AND direction = 'outbound' AND updated_at < ${before}
      ORDER BY id LIMIT ${limit}
      FOR NO KEY UPDATE SKIP LOCKED
    ), freed AS (
      UPDATE recipient SET settlement = 'none' FROM due
      WHERE recipient.campaign_id = due.campaign_id AND recipient.position = due.position
      RETURNING due.channel_id, due.price
    ), freed_message AS (
      UPDATE message SET settlement = 'none' FROM due_message WHERE message.id = due_message.id
      RETURNING due_message.channel_id, due_message.price
    ), total AS (
      SELECT channel_id, count(*)::int AS messages, sum(price)::bigint AS amount
      FROM (SELECT * FROM freed UNION ALL SELECT * FROM freed_message) AS one GROUP BY channel_id
    ), settled_wallet AS (
      UPDATE wallet SET reserved = reserved - total.amount, updated_at = now()
      FROM total WHERE wallet.channel_id = total.channel_id
    )
    SELECT COALESCE(sum(messages), 0)::int AS messages, COALESCE(sum(amount), 0)::bigint AS amount FROM total`);
}
