/**
 * Claiming a page: before any request leaves, one transaction checks the epoch, reserves the money and marks the
 * recipients. A crash after it leaves them CLAIMED, and CLAIMED is never sent again blindly.
 */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from './database.ts';
import { nullable, row } from './row.ts';

export interface ClaimRequest {
  readonly claimId: string;
  readonly campaignId: string;
  readonly channelId: string;
  /** A campaign whose epoch is another by now has been paused or cancelled since. */
  readonly epoch: number;
  readonly limit: number;
  /** Micro-units by recipient country; '' is every other country. */
  readonly prices: ReadonlyMap<string, bigint>;
}

export interface ClaimedRecipient {
  readonly position: number;
  readonly id: string;
  readonly phone_number: string;
  /** ISO 3166 alpha-2, or ''. */
  readonly country: string;
  readonly variables: readonly string[] | null;
  /** This attempt included. */
  readonly attempts: number;
}

export type Claim =
  | { readonly kind: 'page'; readonly recipients: readonly ClaimedRecipient[] }
  /** The campaign is not what it was: paused, cancelled, started again. */
  | { readonly kind: 'stopped' }
  /** The wallet does not cover the next message with the micro-units that are `available`. */
  | { readonly kind: 'unaffordable'; readonly available: bigint }
  /** Nobody can be claimed now. `retryInMs`: until the first delayed recipient is due, null when there is none. */
  | { readonly kind: 'empty'; readonly retryInMs: number | null };

const Available = row(t.type({ available: t.bigint }));
const Page = row(
  t.type({
    candidates: t.number,
    retry_in_ms: nullable(t.number),
    recipients: t.array(
      t.type({
        position: t.number,
        id: t.string,
        phone_number: t.string,
        country: t.string,
        variables: nullable(t.array(t.string)),
        attempts: t.number,
      }),
    ),
  }),
);

/** At most `limit` recipients: first those whose retry is due, then the next ones behind `claimed_position`. */
export async function claimPage(database: Connection, request: ClaimRequest): Promise<Claim> {
  return database.transaction(async (transaction) => {
    // Locked before the claim takes its snapshot, in the order of docs/architecture.md.
    const wallet = await transaction.maybeOne(sql.type(Available)`
      SELECT wallet.balance - wallet.reserved AS available
      FROM campaign
      JOIN wallet ON wallet.channel_id = ${request.channelId}
      JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id
      WHERE campaign.id = ${request.campaignId} AND campaign.status = 'RUNNING' AND campaign.epoch = ${request.epoch}
      FOR SHARE OF campaign FOR UPDATE OF wallet FOR UPDATE OF campaign_counter`);
    if (wallet === null) return { kind: 'stopped' };

    const page = await transaction.one(claimStatement(request, wallet.available));
    if (page.recipients.length > 0) return { kind: 'page', recipients: page.recipients };
    if (page.candidates > 0) return { kind: 'unaffordable', available: wallet.available };
    return { kind: 'empty', retryInMs: page.retry_in_ms };
  });
}

function claimStatement(
  { claimId, campaignId, channelId, epoch, limit, prices }: ClaimRequest,
  available: bigint,
) {
  const priceByCountry = JSON.stringify(
    Object.fromEntries([...prices].map(([country, price]) => [country, `${price}`])),
  );
  return sql.type(Page)`
    WITH candidate AS (
      SELECT position, country FROM (
        (SELECT recipient.position, recipient.country FROM recipient_retry
          JOIN recipient USING (campaign_id, position)
          WHERE campaign_id = ${campaignId} AND not_before <= now() AND recipient.state = 'PENDING'
          ORDER BY not_before LIMIT ${limit})
        UNION ALL
        (SELECT recipient.position, recipient.country FROM recipient
          WHERE recipient.campaign_id = ${campaignId} AND recipient.state = 'PENDING'
            AND recipient.position > (SELECT claimed_position FROM campaign_counter WHERE campaign_id = ${campaignId})
          ORDER BY recipient.position LIMIT ${limit})
      ) AS waiting LIMIT ${limit}
    ), priced AS (
      SELECT position, COALESCE((card.prices ->> country)::bigint, (card.prices ->> '')::bigint) AS price
      FROM candidate CROSS JOIN (SELECT ${priceByCountry}::jsonb AS prices) AS card
    ), affordable AS (
      SELECT position, price FROM (
        SELECT position, price, sum(price) OVER (ORDER BY position ROWS UNBOUNDED PRECEDING) AS total FROM priced
      ) AS running_total
      WHERE total <= ${available}
    ), claimed AS (
      UPDATE recipient SET state = 'CLAIMED', claim_id = ${claimId}, price = affordable.price, settlement = 'reserved',
        attempts = recipient.attempts + 1, updated_at = now()
      FROM affordable
      WHERE recipient.campaign_id = ${campaignId} AND recipient.position = affordable.position
      RETURNING recipient.position, recipient.id, recipient.phone_number, recipient.country, recipient.variables, recipient.attempts,
        recipient.price
    ), retried AS (
      DELETE FROM recipient_retry USING claimed
      WHERE recipient_retry.campaign_id = ${campaignId} AND recipient_retry.position = claimed.position
    ), total AS (
      SELECT count(*)::int AS size, min(position) AS first_position, max(position) AS last_position,
        sum(price)::bigint AS price FROM claimed
    ), reserved AS (
      UPDATE wallet SET reserved = wallet.reserved + total.price, updated_at = now()
      FROM total WHERE total.size > 0 AND wallet.channel_id = ${channelId}
    ), counted AS (
      UPDATE campaign_counter SET claimed_position = greatest(claimed_position, total.last_position),
        pending = pending - total.size, claimed = claimed + total.size
      FROM total WHERE total.size > 0 AND campaign_id = ${campaignId}
    ), opened AS (
      INSERT INTO campaign_claim (id, campaign_id, epoch, size, first_position, last_position)
      SELECT ${claimId}, ${campaignId}, ${epoch}::int, size, first_position, last_position FROM total WHERE size > 0
    )
    SELECT
      (SELECT count(*)::int FROM priced) AS candidates,
      (SELECT extract(epoch FROM min(not_before) - now())::float8 * 1000
        FROM recipient_retry WHERE campaign_id = ${campaignId}) AS retry_in_ms,
      COALESCE((SELECT jsonb_agg(jsonb_build_object('position', position, 'id', id, 'phone_number', phone_number, 'country', country,
        'variables', variables, 'attempts', attempts) ORDER BY position) FROM claimed), '[]'::jsonb) AS recipients`;
}

const Count = row(t.type({ open: t.number }));

/** Pages that are claimed and not recorded yet, of every campaign whose money is in the wallet of the channel. */
export async function countOpenClaims(connection: Connection, channelId: string): Promise<number> {
  const { open } = await connection.one(sql.type(Count)`
    SELECT count(*)::int AS open FROM campaign_claim
    WHERE campaign_id IN (SELECT id FROM campaign WHERE channel_id = ${channelId})`);
  return open;
}
