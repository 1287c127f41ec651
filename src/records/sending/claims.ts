/**
 * Claiming a page: before any request leaves, one transaction checks the epoch, reserves the money and marks the
 * recipients. A crash after it leaves them CLAIMED, and CLAIMED is never sent again blindly.
 */
import { sql, type FragmentSqlToken } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { userIdOf } from '../contacts/user-ids.ts';
import { nullable, row } from '../database/row.ts';
import { countedPeople, lockRoom, personColumns, type Room } from './messaging-limit.ts';

export interface ClaimRequest {
  readonly claimId: string;
  readonly campaignId: string;
  readonly channelId: string;
  /** A campaign whose epoch is another by now has been paused or cancelled since. */
  readonly epoch: number;
  readonly limit: number;
  /** Micro-units by recipient country; '' is every other country. */
  readonly prices: ReadonlyMap<string, bigint>;
  /** The business account has a messaging limit. */
  readonly limited?: boolean;
}

export interface ClaimedRecipient {
  readonly position: number;
  readonly id: string;
  /** E.164 digits, or the provider's id of a person without a number. */
  readonly to: string;
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
  /** The messaging limit has no room for the next person until `moreInMs` from now. */
  | { readonly kind: 'limited'; readonly moreInMs: number }
  /** Nobody can be claimed now. `retryInMs`: until the first delayed recipient is due, null when there is none. */
  | { readonly kind: 'empty'; readonly retryInMs: number | null };

/** So many positions are looked at by one claim: a long stretch of skipped ones costs no claim more than that. */
const positionsAtOnce = 10_000;

const Available = row(t.type({ available: t.bigint }));
// By columns: the names of the fields, once for every recipient, would be half of what Postgres writes and we read.
const Columns = t.type({
  position: t.array(t.number),
  id: t.array(t.string),
  to: t.array(t.string),
  country: t.array(t.string),
  variables: t.array(nullable(t.array(t.string))),
  attempts: t.array(t.number),
});
const Page = row(
  t.type({
    running: t.boolean,
    candidates: t.number,
    outside_room: t.boolean,
    skipped: t.number,
    more: t.boolean,
    retry_in_ms: nullable(t.number),
    pending: nullable(t.number),
    recipients: nullable(Columns),
  }),
);

/** At most `limit` recipients: first those whose retry is due, then the next ones behind `claimed_position`. */
export async function claimPage(database: Connection, request: ClaimRequest): Promise<Claim> {
  return database.transaction(async (transaction) => {
    const room = request.limited === true ? await lockRoom(transaction, request.channelId) : null;
    // Locked before the claim takes its snapshot, in the order of docs/architecture.md. The campaign itself is not locked: a
    // pause waits for no claim, and the claim sees every pause that was there before its snapshot.
    const wallet = await transaction.maybeOne(sql.type(Available)`
      SELECT wallet.balance - wallet.reserved AS available
      FROM wallet JOIN campaign_counter ON campaign_counter.campaign_id = ${request.campaignId}
      WHERE wallet.channel_id = ${request.channelId}
      FOR UPDATE OF wallet FOR UPDATE OF campaign_counter`);
    if (wallet === null) return { kind: 'stopped' };

    const page = await transaction.one(claimStatement(request, wallet.available, room));
    if (!page.running) return { kind: 'stopped' };
    if (page.recipients !== null) {
      return { kind: 'page', recipients: recipientsOf(page.recipients), pending: page.pending ?? 0 };
    }
    if (page.outside_room && room !== null) return { kind: 'limited', moreInMs: room.moreInMs };
    if (page.candidates > 0 && page.skipped === 0)
      return { kind: 'unaffordable', available: wallet.available };
    return { kind: 'empty', retryInMs: page.more || page.skipped > 0 ? 0 : page.retry_in_ms };
  });
}

function recipientsOf(columns: t.TypeOf<typeof Columns>): readonly ClaimedRecipient[] {
  const { id, to, country, variables, attempts } = columns;
  return columns.position.map((position, at) => ({
    position,
    id: id[at] ?? '',
    to: to[at] ?? '',
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

/**
 * The candidates from the first one on that the wallet covers, and for whom there is room; no running total is made where that
 * is so for all of them.
 */
function affordable({ limit, prices }: ClaimRequest, available: bigint, room: Room | null) {
  const dearest = [...prices.values()].reduce((most, price) => (price > most ? price : most), 0n);
  if (room === null && available >= dearest * BigInt(limit))
    return sql.fragment`SELECT position, obstacle FROM candidate`;
  return sql.fragment`
    SELECT position, obstacle FROM (
      SELECT position, obstacle, sum(CASE WHEN obstacle IS NULL THEN ${priceOf(prices, sql.fragment`country`)} ELSE 0 END)
        OVER so_far AS total, count(*) FILTER (WHERE obstacle IS NULL AND newcomer) OVER so_far AS newcomers FROM candidate
      WINDOW so_far AS (ORDER BY position ROWS UNBOUNDED PRECEDING)
    ) AS running_total
    WHERE total <= ${available} AND newcomers <= ${room?.people ?? limit}`;
}

/**
 * Who has unsubscribed, or was deleted, since the preparation is skipped by the same statement; one who was restored or has
 * subscribed again by then is sent to. Looked up one by one: a join reads all contacts while it takes them for few.
 */
const obstacle = sql.fragment`(
  SELECT CASE WHEN contact.deleted_at IS NOT NULL THEN 'CONTACT_DELETED' WHEN NOT contact.subscribed THEN 'UNSUBSCRIBED' END
  FROM contact WHERE contact.workspace_id = present.workspace_id AND contact.id = waiting.contact_id)`;

const address = sql.fragment`CASE WHEN phone_number IS NULL
  THEN ${userIdOf(sql.fragment`(SELECT workspace_id FROM present)`, sql.fragment`recipient.contact_id`)} ELSE phone_number END`;

function claimStatement(request: ClaimRequest, available: bigint, room: Room | null) {
  const { claimId, campaignId, channelId, epoch, limit, prices } = request;
  const people = {
    phoneNumber: sql.fragment`waiting.phone_number`,
    contactId: sql.fragment`waiting.contact_id`,
  };
  const known =
    room === null
      ? sql.fragment`SELECT 0::bigint AS person, false AS outside, false AS newcomer`
      : personColumns({ ...people, accountId: room.accountId, channelId });
  const reached = sql.fragment`SELECT person FROM candidate WHERE outside AND position IN (SELECT position FROM claimed)`;
  return sql.type(Page)`
    WITH present AS MATERIALIZED (
      SELECT campaign.workspace_id, claimed_position, total_contacts + total_contacts_skipped AS last_position,
        claimed_position + ${positionsAtOnce}::int AS looked_up_to
      FROM campaign JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id
      WHERE campaign.id = ${campaignId} AND status = 'RUNNING' AND epoch = ${epoch}
    ), candidate AS MATERIALIZED (
      SELECT position, country, ${obstacle} AS obstacle, person, outside, newcomer FROM (
        (SELECT recipient.position, recipient.country, recipient.contact_id, recipient.phone_number FROM recipient_retry
          JOIN recipient USING (campaign_id, position)
          WHERE campaign_id = ${campaignId} AND not_before <= now() AND recipient.state = 'PENDING'
          ORDER BY not_before LIMIT ${limit})
        UNION ALL
        (SELECT recipient.position, recipient.country, recipient.contact_id, recipient.phone_number FROM recipient
          WHERE recipient.campaign_id = ${campaignId} AND recipient.state = 'PENDING'
            AND recipient.position > (SELECT claimed_position FROM present)
            AND recipient.position <= (SELECT looked_up_to FROM present)
          ORDER BY recipient.position LIMIT ${limit})
      ) AS waiting CROSS JOIN present CROSS JOIN LATERAL (${known}) AS known LIMIT ${limit}
    ), settled AS MATERIALIZED (
      ${affordable(request, available, room)}
    ), claimed AS (
      UPDATE recipient SET state = 'CLAIMED', claim_id = ${claimId}, price = ${priceOf(prices, sql.fragment`country`)},
        settlement = 'reserved', attempts = attempts + 1, updated_at = now()
      -- Not a join: while the table is small it would read all of it for every page.
      WHERE campaign_id = ${campaignId} AND position = ANY(ARRAY(SELECT position FROM settled WHERE obstacle IS NULL))
        AND state = 'PENDING'
      RETURNING position, id, ${address} AS "to", country, variables, attempts, price
    ), skipped AS (
      UPDATE recipient SET state = 'SKIPPED', sendable = false, reason = settled.obstacle, updated_at = now()
      FROM settled WHERE settled.obstacle IS NOT NULL
        AND recipient.campaign_id = ${campaignId} AND recipient.position = settled.position AND state = 'PENDING'
      RETURNING recipient.reason
    ), ${room === null ? sql.fragment`` : sql.fragment`${countedPeople(room.accountId, reached)}, `}retried AS (
      DELETE FROM recipient_retry
      WHERE campaign_id = ${campaignId} AND position = ANY(ARRAY(SELECT position FROM settled))
    ), total AS (
      SELECT count(*)::int AS size, min(position) AS first_position, max(position) AS last_position,
        sum(price)::bigint AS price, (SELECT count(*) FROM skipped)::int AS skipped FROM claimed
    ), reserved AS (
      UPDATE wallet SET reserved = wallet.reserved + total.price, updated_at = now()
      FROM total WHERE total.size > 0 AND wallet.channel_id = ${channelId}
    ), reached AS (
      -- Everything up to there is settled; beyond the last candidate only what nobody sends to.
      SELECT CASE
        WHEN (SELECT count(*) FROM candidate) < ${limit} AND (SELECT count(*) FROM settled) = (SELECT count(*) FROM candidate)
        THEN least(looked_up_to, last_position) ELSE (SELECT max(position) FROM settled) END AS position
      FROM present
    ), counted AS (
      UPDATE campaign_counter SET claimed_position = greatest(claimed_position, reached.position),
        pending = pending - total.size - total.skipped, claimed = claimed + total.size, skipped = campaign_counter.skipped + total.skipped
      FROM total CROSS JOIN reached
      WHERE campaign_id = ${campaignId} AND (total.size + total.skipped > 0 OR reached.position > claimed_position)
      RETURNING pending
    ), opened AS (
      INSERT INTO campaign_claim (id, campaign_id, epoch, size, first_position, last_position)
      SELECT ${claimId}, ${campaignId}, ${epoch}::int, size, first_position, last_position FROM total WHERE size > 0
    ), explained AS (
      INSERT INTO campaign_reason (campaign_id, kind, reason, count)
      SELECT ${campaignId}, 'skipped', reason, count(*) FROM skipped GROUP BY reason ORDER BY reason
      ON CONFLICT (campaign_id, kind, reason) DO UPDATE SET count = campaign_reason.count + excluded.count
    )
    SELECT
      EXISTS (SELECT FROM present) AS running, (SELECT skipped FROM total) AS skipped,
      COALESCE((SELECT looked_up_to < last_position FROM present), false) AS more,
      (SELECT count(*)::int FROM candidate) AS candidates, ${room?.people === 0}::boolean
        AND EXISTS (SELECT FROM candidate WHERE newcomer AND obstacle IS NULL) AS outside_room, (SELECT pending FROM counted) AS pending,
      (SELECT extract(epoch FROM min(not_before) - now())::float8 * 1000
        FROM recipient_retry WHERE campaign_id = ${campaignId}) AS retry_in_ms,
      (SELECT json_build_object('position', array_agg(position), 'id', array_agg(id), 'to', array_agg("to"),
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
