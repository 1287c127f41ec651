/** The statement that claims a page: what it looks up, in which order it locks, and what it changes. */
import { sql, type FragmentSqlToken } from 'slonik';
import * as t from 'io-ts';
import { userIdOf } from '../contacts/user-ids.ts';
import { nullable, row } from '../database/row.ts';
import { ratePerSecond, scheduledAt, openUntil } from './channel-rate.ts';
import type { ClaimRequest } from './claim-batch.ts';
import { countedPeople, personColumns, type Room } from './messaging-limit.ts';

/** A claim scans at most this many positions, so that a long run of skipped recipients does not slow it down. */
const positionsAtOnce = 10_000;

// By columns: the names of the fields, once for every recipient, would be half of what Postgres writes and we read.
export const Columns = t.type({
  position: t.array(t.number),
  id: t.array(t.string),
  to: t.array(t.string),
  country: t.array(t.string),
  variables: t.array(nullable(t.array(t.string))),
  attempts: t.array(t.number),
});
const Page = t.type({
  granted: t.number,
  due_at: t.number,
  now: t.number,
  spacing_ms: t.number,
  held: t.boolean,
  is_failing: t.boolean,
  others_wait: t.boolean,
  slot_lost: t.boolean,
  available: t.bigint,
  candidates: t.number,
  outside_room: t.boolean,
  skipped: t.number,
  more: t.boolean,
  retry_in_ms: nullable(t.number),
  pending: nullable(t.number),
  recipients: nullable(Columns),
});

/** What a message to a recipient costs. */
function priceOf(prices: ClaimRequest['prices'], country: FragmentSqlToken) {
  const card = JSON.stringify(Object.fromEntries([...prices].map(([code, price]) => [code, `${price}`])));
  return sql.fragment`COALESCE((${card}::jsonb ->> ${country})::bigint, (${card}::jsonb ->> '')::bigint)`;
}

/**
 * Who has unsubscribed, or was deleted, since the preparation is skipped by the same statement; one who was restored or has
 * subscribed again by then is sent to. Looked up one by one: a join reads all contacts while it takes them for few.
 */
const obstacle = sql.fragment`(
  SELECT CASE WHEN contact.deleted_at IS NOT NULL THEN 'CONTACT_DELETED' WHEN NOT contact.subscribed OR EXISTS (
      SELECT FROM waiting_opt_out AS stop WHERE stop.workspace_id = contact.workspace_id AND stop.contact_id = contact.id)
    THEN 'UNSUBSCRIBED' END
  FROM contact WHERE contact.workspace_id = present.workspace_id AND contact.id = waiting.contact_id)`;

const address = sql.fragment`CASE WHEN phone_number IS NULL
  THEN ${userIdOf(sql.fragment`(SELECT workspace_id FROM present)`, sql.fragment`recipient.contact_id`)} ELSE phone_number END`;

// A message that leaves so late is on time, and the answer to the claim takes its time, too.
const startsLateMs = 15;

/**
 * Wallet, counter and rate are locked before anybody is looked for, in the order of docs/architecture.md, and the campaign is
 * seen as it is then: KEY SHARE looks at its newest version, and no pause waits for it.
 */
export function claimStatement(request: ClaimRequest, room: Room | null) {
  const { claimId, stepId, campaignId, channelId, epoch, limit, prices } = request;
  const people = {
    phoneNumber: sql.fragment`waiting.phone_number`,
    contactId: sql.fragment`waiting.contact_id`,
  };
  const known =
    room === null
      ? sql.fragment`SELECT 0::bigint AS person, false AS outside, false AS newcomer`
      : personColumns({ ...people, accountId: room.accountId, channelId });
  const reached = sql.fragment`SELECT person FROM candidate WHERE outside AND position IN (SELECT position FROM claimed)`;
  const seconds = (ms: number) => sql.fragment`make_interval(secs => ${ms / 1_000}::float8)`;
  return sql.type(row(Page))`
    WITH present AS MATERIALIZED (
      SELECT campaign.workspace_id, claimed_position, total_contacts + total_contacts_skipped AS last_position,
        claimed_position + ${positionsAtOnce}::int AS looked_up_to, wallet.balance, wallet.reserved,
        wallet.balance - wallet.reserved AS available,
        times_opened > 0 AS held, failure_count > 0 AS is_failing, least(${ratePerSecond}, ${request.perSecond}::float8) AS rate,
        greatest(${scheduledAt}, to_timestamp(${request.notBefore / 1_000}::float8), CASE WHEN times_opened > 0 THEN ${openUntil} END) AS free_at
      FROM campaign JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id
      JOIN wallet USING (channel_id) JOIN channel_rate USING (channel_id) JOIN channel ON channel.id = channel_id
      WHERE campaign.id = ${campaignId} AND channel_id = ${channelId} AND campaign.status = 'RUNNING' AND epoch = ${epoch}
      FOR UPDATE OF wallet FOR UPDATE OF campaign_counter FOR UPDATE OF channel_rate FOR KEY SHARE OF campaign
    ), lease AS MATERIALIZED (
      SELECT now, due_at, CASE WHEN due_at > now + ${seconds(request.aheadMs)} THEN 0 WHEN held THEN 1 ELSE ${limit}::int END AS granted
      FROM (SELECT held, clock_timestamp() AS now, greatest(free_at, clock_timestamp() - ${seconds(startsLateMs)}) AS due_at FROM present) AS due
    ), candidate AS MATERIALIZED (
      SELECT position, country, ${priceOf(prices, sql.fragment`country`)} AS price, ${obstacle} AS obstacle, person, outside, newcomer FROM (
        (SELECT * FROM (
          -- Rows that another claim took while this one waited for the wallet are skipped: waiting for them could deadlock.
          -- OFFSET 0 keeps the look-up of each recipient by its key: without statistics a join would read all of the campaign.
          SELECT due.position, due.country, due.contact_id, due.phone_number
          FROM recipient_retry CROSS JOIN LATERAL (
            SELECT position, country, contact_id, phone_number FROM recipient
            WHERE campaign_id = recipient_retry.campaign_id AND position = recipient_retry.position AND state = 'PENDING' OFFSET 0
          ) AS due
          WHERE campaign_id = ${campaignId} AND not_before <= now()
          ORDER BY not_before LIMIT ${limit} FOR UPDATE OF recipient_retry
        ) AS retries)
        UNION ALL
        (SELECT recipient.position, recipient.country, recipient.contact_id, recipient.phone_number FROM recipient
          WHERE recipient.campaign_id = ${campaignId} AND recipient.state = 'PENDING'
            AND recipient.position > (SELECT claimed_position FROM present)
            AND recipient.position <= (SELECT looked_up_to FROM present)
          ORDER BY recipient.position LIMIT ${limit})
      ) AS waiting CROSS JOIN present CROSS JOIN LATERAL (${known}) AS known LIMIT (SELECT granted FROM lease)
    ), settled AS MATERIALIZED (
      -- From the first one on as far as the wallet and the room go.
      SELECT position, obstacle FROM (
        SELECT position, obstacle, sum(CASE WHEN obstacle IS NULL THEN price ELSE 0 END) OVER so_far AS total,
          count(*) FILTER (WHERE obstacle IS NULL AND newcomer) OVER so_far AS newcomers FROM candidate
        WINDOW so_far AS (ORDER BY position ROWS UNBOUNDED PRECEDING)
      ) AS running_total WHERE total <= (SELECT available FROM present) AND newcomers <= ${room?.people ?? limit}
    ), claimed AS (
      UPDATE recipient SET state = 'CLAIMED', claim_id = ${claimId}, price = ${priceOf(prices, sql.fragment`country`)},
        settlement = 'reserved', attempts = attempts + 1, updated_at = now()
      -- Positions as an array, not a join: without statistics a join compares the batch with every recipient of the campaign.
      WHERE campaign_id = ${campaignId} AND position = ANY(ARRAY(SELECT position FROM settled WHERE obstacle IS NULL))
        AND state = 'PENDING'
      RETURNING position, id, ${address} AS "to", country, variables, attempts, price
    ), obstacles AS MATERIALIZED (
      SELECT jsonb_object_agg(position, obstacle) AS by_position FROM settled WHERE obstacle IS NOT NULL
    ), skipped AS (
      UPDATE recipient SET state = 'SKIPPED', sendable = false, reason = obstacles.by_position ->> position::text, updated_at = now()
      FROM obstacles
      WHERE campaign_id = ${campaignId} AND position = ANY(ARRAY(SELECT position FROM settled WHERE obstacle IS NOT NULL))
        AND state = 'PENDING'
      RETURNING reason
    ), ${room === null ? sql.fragment`` : sql.fragment`${countedPeople(room.accountId, reached)}, `}retried AS (
      DELETE FROM recipient_retry
      WHERE campaign_id = ${campaignId} AND position = ANY(ARRAY(SELECT position FROM settled))
    ), total AS (
      SELECT count(*)::int AS size, min(position) AS first_position, max(position) AS last_position,
        sum(price)::bigint AS price, (SELECT count(*) FROM skipped)::int AS skipped FROM claimed
    ), reserved AS (
      -- Both as they were locked: the row of this statement's snapshot may be older, and the check looks at that one first.
      UPDATE wallet SET balance = present.balance, reserved = present.reserved + total.price, updated_at = now()
      FROM total CROSS JOIN present WHERE total.size > 0 AND wallet.channel_id = ${channelId}
    ), reached AS (
      -- Everything up to there is settled; beyond the last candidate only what nobody sends to.
      SELECT CASE
        WHEN (SELECT count(*) FROM candidate) < granted AND (SELECT count(*) FROM settled) = (SELECT count(*) FROM candidate)
        THEN least(looked_up_to, last_position) ELSE (SELECT max(position) FROM settled) END AS position
      FROM present CROSS JOIN lease
    ), counted AS (
      UPDATE campaign_counter SET claimed_position = greatest(claimed_position, reached.position),
        pending = pending - total.size - total.skipped, claimed = claimed + total.size, skipped = campaign_counter.skipped + total.skipped
      FROM total CROSS JOIN reached
      WHERE campaign_id = ${campaignId} AND (total.size + total.skipped > 0 OR reached.position > claimed_position)
      RETURNING pending
    ), leased AS (
      UPDATE channel_rate SET next_at = due_at + make_interval(secs => size / rate),
        probed_at = CASE WHEN held THEN now ELSE probed_at END,
        open_until = CASE WHEN held THEN now + ${seconds(request.answerWithinMs)} ELSE open_until END
      FROM present CROSS JOIN lease CROSS JOIN total WHERE channel_rate.channel_id = ${channelId} AND size > 0
    ), opened AS (
      INSERT INTO campaign_claim (id, campaign_id, epoch, open, first_position, last_position)
      SELECT ${claimId}, ${campaignId}, ${epoch}::int, size, first_position, last_position FROM total WHERE size > 0
    ), explained AS (
      INSERT INTO campaign_reason (campaign_id, kind, reason, count)
      SELECT ${campaignId}, 'skipped', reason, count(*) FROM skipped GROUP BY reason ORDER BY reason
      ON CONFLICT (campaign_id, kind, reason) DO UPDATE SET count = campaign_reason.count + excluded.count
    )
    SELECT granted, held, is_failing, available, (1000 / rate)::float8 AS spacing_ms,
      extract(epoch FROM due_at)::float8 * 1000 AS due_at, extract(epoch FROM now)::float8 * 1000 AS now,
      EXISTS (SELECT FROM slot_queue WHERE channel_id = ${channelId} AND waiting AND campaign_id <> ${campaignId}) AS others_wait,
      NOT EXISTS (SELECT FROM send_slot WHERE channel_id = ${channelId} AND step_id = ${stepId}) AS slot_lost,
      (SELECT skipped FROM total) AS skipped, looked_up_to < last_position AS more,
      (SELECT count(*)::int FROM candidate) AS candidates, ${room?.people === 0}::boolean
        AND EXISTS (SELECT FROM candidate WHERE newcomer AND obstacle IS NULL) AS outside_room, (SELECT pending FROM counted) AS pending,
      (SELECT extract(epoch FROM min(not_before) - now())::float8 * 1000
        FROM recipient_retry WHERE campaign_id = ${campaignId}) AS retry_in_ms,
      (SELECT json_build_object('position', array_agg(position), 'id', array_agg(id), 'to', array_agg("to"),
        'country', array_agg(country), 'variables', json_agg(variables), 'attempts', array_agg(attempts))
        FROM (SELECT * FROM claimed ORDER BY position) AS ordered HAVING count(*) > 0) AS recipients
    FROM present CROSS JOIN lease`;
}
