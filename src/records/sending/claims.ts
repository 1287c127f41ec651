/**
 * Claiming a page: before any request leaves, one transaction checks the epoch, reserves the money and marks the
 * recipients. A crash after it leaves them CLAIMED, and CLAIMED is never sent again blindly.
 */
import { sql, type FragmentSqlToken } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nullable, row } from '../database/row.ts';

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
  /** `pending`: how many are left to be claimed after it. */
  | { readonly kind: 'page'; readonly recipients: readonly ClaimedRecipient[]; readonly pending: number }
  /** The campaign is not what it was: paused, cancelled, started again. */
  | { readonly kind: 'stopped' }
  /** The wallet does not cover the next message with the micro-units that are `available`. */
  | { readonly kind: 'unaffordable'; readonly available: bigint }
  /** Nobody can be claimed now. `retryInMs`: until the first delayed recipient is due, null when there is none. */
  | { readonly kind: 'empty'; readonly retryInMs: number | null };

const Available = row(t.type({ available: t.bigint }));
// By columns: the names of the fields, once for every recipient, would be half of what Postgres writes and we read.
const Columns = t.type({
  position: t.array(t.number),
  id: t.array(t.string),
  phone_number: t.array(t.string),
  country: t.array(t.string),
  variables: t.array(nullable(t.array(t.string))),
  attempts: t.array(t.number),
});
const Page = row(
  t.type({
    candidates: t.number,
    retry_in_ms: nullable(t.number),
    pending: nullable(t.number),
    recipients: nullable(Columns),
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
    if (page.recipients !== null) {
      return { kind: 'page', recipients: recipientsOf(page.recipients), pending: page.pending ?? 0 };
    }
    if (page.candidates > 0) return { kind: 'unaffordable', available: wallet.available };
    return { kind: 'empty', retryInMs: page.retry_in_ms };
  });
}

function recipientsOf(columns: t.TypeOf<typeof Columns>): readonly ClaimedRecipient[] {
  const { id, phone_number: phoneNumber, country, variables, attempts } = columns;
  return columns.position.map((position, at) => ({
    position,
    id: id[at] ?? '',
    phone_number: phoneNumber[at] ?? '',
    country: country[at] ?? '',
    variables: variables[at] ?? null,
    attempts: attempts[at] ?? 1,
  }));
}

/** What a message to a recipient costs. */
function priceOf(prices: ClaimRequest['prices'], country: FragmentSqlToken) {
  const card = JSON.stringify(Object.fromEntries([...prices].map(([code, price]) => [code, `${price}`])));
  return sql.fragment`COALESCE((${card}::jsonb ->> ${country})::bigint, (${card}::jsonb ->> '')::bigint)`;
}

/** The candidates from the first one on that the wallet covers; no running total is made where it covers them all. */
function affordable({ limit, prices }: ClaimRequest, available: bigint) {
  const dearest = [...prices.values()].reduce((most, price) => (price > most ? price : most), 0n);
  if (available >= dearest * BigInt(limit)) return sql.fragment`SELECT position FROM candidate`;
  return sql.fragment`
    SELECT position FROM (
      SELECT position, sum(${priceOf(prices, sql.fragment`country`)})
        OVER (ORDER BY position ROWS UNBOUNDED PRECEDING) AS total FROM candidate
    ) AS running_total
    WHERE total <= ${available}`;
}

function claimStatement(request: ClaimRequest, available: bigint) {
  const { claimId, campaignId, channelId, epoch, limit, prices } = request;
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
    ), affordable AS (
      ${affordable(request, available)}
    ), claimed AS (
      UPDATE recipient SET state = 'CLAIMED', claim_id = ${claimId}, price = ${priceOf(prices, sql.fragment`country`)},
        settlement = 'reserved', attempts = attempts + 1, updated_at = now()
      -- Not a join: while the table is small it would read all of it for every page.
      WHERE campaign_id = ${campaignId} AND position = ANY(ARRAY(SELECT position FROM affordable))
      RETURNING position, id, phone_number, country, variables, attempts, price
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
      RETURNING pending
    ), opened AS (
      INSERT INTO campaign_claim (id, campaign_id, epoch, size, first_position, last_position)
      SELECT ${claimId}, ${campaignId}, ${epoch}::int, size, first_position, last_position FROM total WHERE size > 0
    )
    SELECT
      (SELECT count(*)::int FROM candidate) AS candidates, (SELECT pending FROM counted) AS pending,
      (SELECT extract(epoch FROM min(not_before) - now())::float8 * 1000
        FROM recipient_retry WHERE campaign_id = ${campaignId}) AS retry_in_ms,
      (SELECT json_build_object('position', array_agg(position), 'id', array_agg(id), 'phone_number', array_agg(phone_number),
        'country', array_agg(country), 'variables', json_agg(variables), 'attempts', array_agg(attempts))
        FROM (SELECT * FROM claimed ORDER BY position) AS ordered HAVING count(*) > 0) AS recipients`;
}

const Count = row(t.type({ open: t.number }));

/** Pages that are claimed and not recorded yet, of every campaign whose money is in the wallet of the channel. */
export async function countOpenClaims(connection: Connection, channelId: string): Promise<number> {
  const { open } = await connection.one(sql.type(Count)`
    SELECT count(*)::int AS open FROM campaign_claim
    WHERE campaign_id IN (SELECT id FROM campaign WHERE channel_id = ${channelId})`);
  return open;
}
