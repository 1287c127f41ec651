/**
 * Turns of a channel. One step sends on the first place of a channel; three more are for campaigns that a quarter of a second
 * sends to their end. A place is a lease that its step renews, so that a dead process loses it. Who has had its turn calls the
 * campaign that has taken least, counting what it would take in one turn, and sends until that one takes the place.
 */
import { sql, type FragmentSqlToken } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row } from '../database/row.ts';

const slotsPerChannel = 4;
const leaseMs = 5_000;
export const renewEveryMs = 1_500;
/** Who was called and has not come by then lets anybody take the place who asks. */
const calledForMs = 3_000;
/** What a turn sends beyond so many seconds it sent because nobody came, and nobody is owed for that. */
const owedSeconds = 2;

/** All that wait ask again so often a second together, and nobody more often than every four seconds: ten events of history each. */
const askingPerSecond = 2;
const shortestAskMs = 4_000;

const after = (ms: number) => sql.fragment`clock_timestamp() + make_interval(secs => ${ms / 1_000}::float8)`;

/** When a waiting campaign asks again if no signal reaches it; grows with the waiters of its channel. */
const retryInMs = (channelId: FragmentSqlToken) => sql.fragment`greatest(${shortestAskMs}::float8,
  (SELECT count(*) FROM slot_queue AS waiter WHERE waiter.channel_id = ${channelId} AND waiter.waiting)
    * 1000.0 / ${askingPerSecond})::float8`;

/** What is left to one of these is over in a quarter of a second. Of campaign_counter and channel. */
const isSmall = sql.fragment`(pending <= greatest(2, messages_per_second / 4))`;

/** No lease is longer: a later end was written before the server's clock was set back. */
const longestLeaseMs = 5 * 60_000;

/** The lease has not expired. */
const isLeased = (slot: FragmentSqlToken) =>
  sql.fragment`(${slot}.expires_at > clock_timestamp() AND ${slot}.expires_at <= ${after(longestLeaseMs)})`;

/** The place may be taken by the campaign. */
const isFree = (slot: FragmentSqlToken, campaignId: string) => sql.fragment`(
  NOT ${isLeased(slot)}
  OR ${slot}.next_campaign_id = ${campaignId} OR ${callIsOver(sql.fragment`${slot}.handover_at`)}
  OR (${slot}.step_id IS NULL AND ${slot}.campaign_id = ${campaignId}))`;

/** The called campaign did not come in time, or was called before the server's clock was set back. */
const callIsOver = (handoverAt: FragmentSqlToken) =>
  sql.fragment`(${handoverAt} <= ${after(-calledForMs)} OR ${handoverAt} > ${after(calledForMs)})`;

/** Another step of the campaign sends, and has not called this one. */
const sends = (channelId: FragmentSqlToken, campaignId: string) => sql.fragment`EXISTS (
  SELECT FROM send_slot WHERE send_slot.channel_id = ${channelId} AND send_slot.campaign_id = ${campaignId}
    AND step_id IS NOT NULL AND ${isLeased(sql.fragment`send_slot`)} AND next_campaign_id IS DISTINCT FROM ${campaignId}::uuid)`;

export interface SlotRequest {
  readonly campaignId: string;
  /** Of the step. */
  readonly stepId: string;
}

const SlotAnswer = t.type({
  /** Null: no place is free. */
  slotNumber: nullable(t.number),
  retryInMs: t.number,
  /** A place was free: with `place` null another step was quicker. */
  free: t.boolean,
});
export type SlotAnswer = t.TypeOf<typeof SlotAnswer>;

/** Null for a campaign that does not run. Without a place it is queued, unless it only `tries`. */
export async function acquireSlot(
  connection: Connection,
  request: SlotRequest,
  singleBatch = false,
): Promise<SlotAnswer | null> {
  for (;;) {
    const slot = await tryAcquireSlot(connection, request, singleBatch);
    if (slot === null || slot.slotNumber !== null || !slot.free) return slot;
  }
}

function tryAcquireSlot(
  connection: Connection,
  { campaignId, stepId }: SlotRequest,
  singleBatch: boolean,
): Promise<SlotAnswer | null> {
  return connection.maybeOne(sql.type(row(SlotAnswer))`
    WITH me AS (
      SELECT campaign.id, channel_id, ${isSmall} AS small,
        ${sends(sql.fragment`campaign.channel_id`, campaignId)} AS sends
      FROM campaign JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id JOIN channel ON channel.id = channel_id
      WHERE campaign.id = ${campaignId} AND campaign.status = 'RUNNING'
    ), free AS (
      SELECT slot_number FROM me CROSS JOIN generate_series(1, CASE WHEN small THEN ${slotsPerChannel} ELSE 1 END) AS slot_number
      LEFT JOIN send_slot USING (channel_id, slot_number)
      WHERE NOT sends AND (expires_at IS NULL OR ${isFree(sql.fragment`send_slot`, campaignId)})
      -- The one that it was called to.
      ORDER BY COALESCE(next_campaign_id, CASE WHEN step_id IS NULL THEN campaign_id END) = id DESC NULLS LAST, slot_number DESC LIMIT 1
    ), taken AS (
      INSERT INTO send_slot AS present (channel_id, slot_number, campaign_id, step_id, expires_at)
      SELECT channel_id, slot_number, id, ${stepId}::uuid, ${after(leaseMs)} FROM me CROSS JOIN free
      ON CONFLICT (channel_id, slot_number) DO UPDATE SET campaign_id = excluded.campaign_id, step_id = excluded.step_id,
        expires_at = excluded.expires_at, next_campaign_id = NULL, handover_at = NULL
        WHERE ${isFree(sql.fragment`present`, campaignId)}
      RETURNING slot_number
    ), queued AS (
      INSERT INTO slot_queue (campaign_id, channel_id, virtual_time, waiting)
      SELECT id, channel_id, ${joinsAt(sql.fragment`me.channel_id`, campaignId)}, true
      FROM me WHERE NOT ${singleBatch} AND NOT EXISTS (SELECT FROM taken)
      ON CONFLICT (campaign_id) DO UPDATE SET waiting = true, waiting_since = now(), virtual_time = greatest(slot_queue.virtual_time, excluded.virtual_time)
        WHERE NOT slot_queue.waiting
    ), called AS (
      UPDATE slot_queue SET waiting = false FROM taken WHERE campaign_id = ${campaignId} AND waiting
    )
    SELECT (SELECT slot_number FROM taken) AS "slotNumber", EXISTS (SELECT FROM free) AS free,
      ${retryInMs(sql.fragment`me.channel_id`)} AS "retryInMs" FROM me`);
}

/**
 * Virtual time at which a campaign joins the wait queue: that of the campaign furthest behind among the others that wait or
 * hold a slot. A campaign that has nothing to send collects no credit, and holds nobody's virtual time back.
 */
const joinsAt = (channelId: FragmentSqlToken, campaignId: string) => sql.fragment`COALESCE((
  SELECT min(other.virtual_time) FROM slot_queue AS other
  JOIN campaign AS running ON running.id = other.campaign_id AND running.status = 'RUNNING'
  WHERE other.channel_id = ${channelId} AND other.campaign_id <> ${campaignId} AND (other.waiting OR EXISTS (
    SELECT FROM send_slot AS slot WHERE slot.channel_id = other.channel_id
      AND (slot.campaign_id = other.campaign_id OR slot.next_campaign_id = other.campaign_id) AND ${isLeased(sql.fragment`slot`)}))), 0)`;

/** Puts a campaign back whose signal failed, so that it is called again. */
export async function rejoinSlotQueue(connection: Connection, campaignId: string): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE slot_queue SET waiting = true WHERE campaign_id = ${campaignId}`);
}

/** The place of a step. */
export interface HeldSlot extends SlotRequest {
  readonly channelId: string;
  readonly slotNumber: number;
}

const mine = ({ channelId, slotNumber, stepId }: HeldSlot) => sql.fragment`
  send_slot.channel_id = ${channelId} AND send_slot.slot_number = ${slotNumber} AND send_slot.step_id = ${stepId}`;

/** False when the turn was lost: another step sends in this place. */
export async function renewSlot(connection: Connection, slot: HeldSlot): Promise<boolean> {
  const renewed = await connection.maybeOne(sql.type(row(t.type({ slot_number: t.number })))`
    UPDATE send_slot SET expires_at = ${after(leaseMs)} WHERE ${mine(slot)} RETURNING slot_number`);
  return renewed !== null;
}

const Next = row(t.type({ next: nullable(t.string) }));

/** Who comes next, and is called no more; nobody while one who was called may still come. `but`: not this campaign. */
const next = (slot: HeldSlot, but: string | null = null) => sql.fragment`
  next AS (
    SELECT slot_queue.campaign_id FROM send_slot
    JOIN slot_queue USING (channel_id)
    JOIN channel ON channel.id = slot_queue.channel_id
    JOIN campaign_counter ON campaign_counter.campaign_id = slot_queue.campaign_id
    JOIN campaign ON campaign.id = slot_queue.campaign_id AND campaign.status = 'RUNNING'
    WHERE ${mine(slot)} AND COALESCE(${callIsOver(sql.fragment`handover_at`)}, true)
      AND waiting AND campaign.id IS DISTINCT FROM ${but}::uuid AND ${isSmall} = (${slot.slotNumber} > 1)
    ORDER BY virtual_time + least(pending, messages_per_second), waiting_since, campaign.id LIMIT 1
    FOR UPDATE OF slot_queue SKIP LOCKED
  ), told AS (
    UPDATE slot_queue SET waiting = false FROM next WHERE slot_queue.campaign_id = next.campaign_id
  )`;

/** Calls a campaign to the place, on which the step sends until then: the next one, or with `again` its own. Returns whom to tell. */
export async function handOverSlot(
  connection: Connection,
  slot: HeldSlot,
  again: boolean,
): Promise<string | null> {
  return connection.maybeOneFirst(sql.type(Next)`
    WITH ${next(slot, slot.campaignId)}
    UPDATE send_slot SET handover_at = clock_timestamp(),
      next_campaign_id = COALESCE((SELECT campaign_id FROM next), ${again ? slot.campaignId : null}::uuid)
    WHERE ${mine(slot)} AND COALESCE(${callIsOver(sql.fragment`handover_at`)}, true) AND (${again} OR EXISTS (SELECT FROM next))
    RETURNING next_campaign_id AS next`);
}

/**
 * Leaves the place: to whoever is called, or for `keepMs` to nobody else, because the channel lets nobody send. Returns whom
 * to tell.
 */
export async function releaseSlot(
  connection: Connection,
  slot: HeldSlot,
  keepMs: number,
): Promise<string | null> {
  return connection.maybeOneFirst(sql.type(Next)`
    WITH ${next(slot)}, left_to AS (
      SELECT CASE WHEN ${keepMs}::float8 = 0 THEN COALESCE((SELECT campaign_id FROM next), NULLIF(next_campaign_id, campaign_id)) END AS id
      FROM send_slot WHERE ${mine(slot)}
    )
    UPDATE send_slot SET step_id = NULL, next_campaign_id = NULL, handover_at = NULL, campaign_id = COALESCE(left_to.id, campaign_id),
      expires_at = CASE WHEN left_to.id IS NULL AND ${keepMs}::float8 = 0 THEN clock_timestamp() ELSE ${after(leaseMs + keepMs)} END
    FROM left_to WHERE ${mine(slot)}
    RETURNING (SELECT campaign_id FROM next WHERE campaign_id = left_to.id) AS next`);
}

export interface SlotUsage {
  readonly tokensUsed: number;
  /** The median time of an answer. */
  readonly answerMs: number;
  /** The campaign has nobody left. */
  readonly drained: boolean;
  /** It has somebody to send to at once, and waits for its next turn. */
  readonly waits: boolean;
}

/** Returns when the campaign asks again, if nobody calls it. */
export async function recordSlotUsage(
  connection: Connection,
  { campaignId, channelId }: HeldSlot,
  { tokensUsed, answerMs, drained, waits }: SlotUsage,
): Promise<number> {
  const asked = await connection.one(sql.type(row(t.type({ retry_in_ms: t.number })))`
    WITH gone AS (
      DELETE FROM slot_queue WHERE campaign_id = ${campaignId} AND ${drained}
    ), usage AS (
      SELECT id, least(${tokensUsed}::int, messages_per_second * ${owedSeconds}::int) AS used FROM channel WHERE id = ${channelId}
    ), queued AS (
      INSERT INTO slot_queue AS present (campaign_id, channel_id, virtual_time, waiting)
      SELECT ${campaignId}, usage.id, ${joinsAt(sql.fragment`usage.id`, campaignId)} + usage.used,
        ${waits} AND NOT ${sends(sql.fragment`usage.id`, campaignId)}
      FROM usage JOIN campaign ON campaign.id = ${campaignId} AND campaign.status = 'RUNNING' WHERE NOT ${drained}
      ON CONFLICT (campaign_id) DO UPDATE SET virtual_time = present.virtual_time + (SELECT used FROM usage), waiting = excluded.waiting, waiting_since = now()
    ), learnt AS (
      UPDATE channel_rate SET answer_ms = ${answerMs}::float8
      WHERE channel_id = ${channelId} AND abs(answer_ms - ${answerMs}::float8) > answer_ms / 10
    )
    SELECT ${retryInMs(sql.fragment`${channelId}::uuid`)} AS retry_in_ms`);
  return asked.retry_in_ms;
}

/** The campaign does not run any more. */
export async function leaveSlotQueue(connection: Connection, campaignId: string): Promise<void> {
  await connection.query(sql.type(nothing)`
    DELETE FROM slot_queue WHERE campaign_id = ${campaignId}`);
}
