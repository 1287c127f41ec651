/**
 * The four send slots of a channel: leases in `send_slot`, whose states are listed below. Slot 1 takes any campaign;
 * slots 2 to 4 take only small campaigns, so that a crowd of them does not wait behind a large one, or for one another's
 * round trips. Invariant: at most one step holds a slot, and at most one step of a campaign holds any.
 */
import * as t from 'io-ts';
import { type FragmentSqlToken, sql } from 'slonik';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row } from '../database/row.ts';

/**
 * States of a send slot, as conditions on its row in `send_slot`. Every change of state is one UPDATE that repeats the
 * condition of the state it leaves, so two steps never both succeed.
 *
 *   FREE ──acquire──► HELD ──hand over──► HANDING_OVER ──the next holder acquires──► HELD (by the next holder)
 *    ▲                 │                       │
 *    │                 └──────── release ──────┴──► RESERVED (for the next holder) ──acquire──► HELD
 *    │                             │                    │
 *    └─ no campaign waits, or the lease (5 s) expired ───────┘ not acquired within 5 s
 *
 * FREE: no row, or `expires_at` has passed.
 * HELD: `step_id` is the step that sends, `next_campaign_id` is NULL; the step renews the lease of 5 s every 1.5 s.
 * HANDING_OVER: the step sends on until the campaign in `next_campaign_id` acquires the slot, so the channel is never idle
 *   in between. After 3 s without it any campaign may acquire the slot.
 * RESERVED: `step_id` is NULL, and only `campaign_id` may acquire the slot. Also used while the channel cannot send, so that
 *   the campaign which found that out is the one that tries again.
 */

/** Names the step that asks, and its campaign. */
export interface SlotRequest {
  readonly campaignId: string;
  readonly stepId: string;
}

export interface HeldSlot extends SlotRequest {
  readonly channelId: string;
  /** 1 to 4. */
  readonly slotNumber: number;
}

/** 5 s: three renewals may fail before another step takes over from one that died. */
const leaseMs = 5_000;
/** 3 s: starting an activity takes some 100 ms; a campaign that needs longer has lost its signal. */
const handoverMs = 3_000;
/** 5 min: no lease is longer, so a later end was written before the server's clock was set back, and does not count. */
const longestLeaseMs = 5 * 60_000;

const inMs = (ms: number) => sql.fragment`clock_timestamp() + make_interval(secs => ${ms / 1_000}::float8)`;

export const isLeased = (slot: FragmentSqlToken) =>
  sql.fragment`(${slot}.expires_at > clock_timestamp() AND ${slot}.expires_at <= ${inMs(longestLeaseMs)})`;

/** No handover is under way that its next holder may still take; a time in the future predates a clock rollback. */
const isOpenToHandover = (handoverAt: FragmentSqlToken) =>
  sql.fragment`COALESCE(${handoverAt} <= ${inMs(-handoverMs)} OR ${handoverAt} > ${inMs(handoverMs)}, true)`;

/** The campaign may acquire the slot: it is FREE, handed over or RESERVED to the campaign, or its handover timed out. */
const mayAcquire = (slot: FragmentSqlToken, campaignId: string) => sql.fragment`(
  NOT ${isLeased(slot)}
  OR ${slot}.next_campaign_id = ${campaignId}
  OR (${slot}.handover_at IS NOT NULL AND ${isOpenToHandover(sql.fragment`${slot}.handover_at`)})
  OR (${slot}.step_id IS NULL AND ${slot}.campaign_id = ${campaignId}))`;

/** The step holds the slot, in HELD or HANDING_OVER. */
const slotOfStep = ({ channelId, slotNumber, stepId }: HeldSlot) => sql.fragment`
  send_slot.channel_id = ${channelId} AND send_slot.slot_number = ${slotNumber} AND send_slot.step_id = ${stepId}`;

/** Another step of the campaign holds a slot, and is not handing it over to the campaign itself. */
const stepOfCampaignSends = (channelId: FragmentSqlToken, campaignId: string) => sql.fragment`EXISTS (
  SELECT FROM send_slot WHERE send_slot.channel_id = ${channelId} AND send_slot.campaign_id = ${campaignId}
    AND step_id IS NOT NULL AND ${isLeased(sql.fragment`send_slot`)} AND next_campaign_id IS DISTINCT FROM ${campaignId}::uuid)`;

/** A step of the campaign holds a slot of its channel, or a slot is kept for it. For a row of `slot_queue`. */
const hasSlot = (queued: FragmentSqlToken) => sql.fragment`EXISTS (
  SELECT FROM send_slot AS held WHERE held.channel_id = ${queued}.channel_id AND ${isLeased(sql.fragment`held`)}
    AND (held.campaign_id = ${queued}.campaign_id OR (held.next_campaign_id = ${queued}.campaign_id
      AND NOT ${isOpenToHandover(sql.fragment`held.handover_at`)})))`;

/*
 * The wait queue (table `slot_queue`): start-time fair queueing. A campaign's virtual time is the number of tokens it has used;
 * the waiting campaign with the lowest virtual time gets the next slot.
 */

/** Slot 1 takes any campaign, slots 2 to 4 only small ones. */
const slotsPerChannel = 4;
/** One step adds at most 2 s of the channel's rate to a virtual time, so that a campaign which sent alone is not set back for long. */
const maxCountedSeconds = 2;

/** All waiting campaigns of a channel together ask twice a second: each request costs ten events of workflow history. */
const requestsPerSecond = 2;
/** 4 s: longer than a handover may take (3 s), so a campaign asks again only when its signal was lost. */
const minRetryMs = 4_000;

/** A campaign is small if its channel sends the rest of it within 250 ms. For a join of campaign_counter and channel. */
const isSmall = sql.fragment`(pending <= greatest(2, messages_per_second / 4))`;

/**
 * The slot that the campaign may acquire now; no row without one, or while another of its steps holds a slot. First comes a slot
 * that is kept for the campaign; a small campaign leaves slot 1 to the large ones if it can.
 */
const freeSlot = (campaignId: string) => sql.fragment`
  SELECT slot_number FROM campaign
  JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id JOIN channel ON channel.id = campaign.channel_id
  CROSS JOIN generate_series(1, CASE WHEN ${isSmall} THEN ${slotsPerChannel} ELSE 1 END) AS slot_number
  LEFT JOIN send_slot USING (channel_id, slot_number)
  WHERE campaign.id = ${campaignId} AND campaign.status = 'RUNNING'
    AND NOT ${stepOfCampaignSends(sql.fragment`campaign.channel_id`, campaignId)}
    AND (expires_at IS NULL OR ${mayAcquire(sql.fragment`send_slot`, campaignId)})
  ORDER BY (${isLeased(sql.fragment`send_slot`)} AND COALESCE(next_campaign_id, send_slot.campaign_id) = ${campaignId}) IS TRUE DESC,
    slot_number DESC
  LIMIT 1`;

/** Milliseconds after which a waiting campaign asks again without a signal; grows with the waiting campaigns of its channel. */
const retryAfterMs = (channelId: FragmentSqlToken) => sql.fragment`greatest(${minRetryMs}::float8,
  (SELECT count(*) FROM slot_queue AS waiter WHERE waiter.channel_id = ${channelId} AND waiter.waiting)
    * 1000.0 / ${requestsPerSecond})::float8`;

/**
 * Virtual time at which a campaign joins the queue: that of the campaign furthest behind among the others that wait or hold a
 * slot. A campaign collects no credit while it has nothing to send, and does not hold the virtual time of others back. If no other
 * waits or holds a slot, that of the campaign furthest ahead: it may be between two steps, and would otherwise get no slot until
 * the new campaigns have used as much.
 */
const joiningTime = (channelId: FragmentSqlToken, campaignId: string) => sql.fragment`(
  SELECT COALESCE(min(other.virtual_time) FILTER (WHERE other.waiting OR ${hasSlot(sql.fragment`other`)}), max(other.virtual_time), 0)
  FROM slot_queue AS other JOIN campaign AS running ON running.id = other.campaign_id AND running.status = 'RUNNING'
  WHERE other.channel_id = ${channelId} AND other.campaign_id <> ${campaignId})`;

/**
 * The CTE `next` selects the running, waiting campaign that the slot goes to; the CTE `dequeued` takes it out of the queue. Slot 1
 * goes to large campaigns, the others to small ones. The campaign with the lowest virtual finish time comes first: what it has used
 * plus what it would use in one second. `next` leaves out a campaign that has a slot, because that campaign may finish in it, and a
 * second slot would then stay reserved until its lease ends. `next` is empty if the step no longer holds the slot, or while `isOpen`
 * is false. It locks the slot before the queue's row, as acquiring does: a waiting campaign leaves the queue only if the slot becomes
 * its own.
 */
const takeNextWaiting = (slot: HeldSlot, isOpen: FragmentSqlToken) => sql.fragment`
  next AS (
    SELECT slot_queue.campaign_id FROM send_slot
    JOIN slot_queue USING (channel_id)
    JOIN channel ON channel.id = slot_queue.channel_id
    JOIN campaign_counter ON campaign_counter.campaign_id = slot_queue.campaign_id
    JOIN campaign ON campaign.id = slot_queue.campaign_id AND campaign.status = 'RUNNING'
    WHERE ${slotOfStep(slot)} AND ${isOpen}
      AND waiting AND NOT ${hasSlot(sql.fragment`slot_queue`)} AND ${isSmall} = (${slot.slotNumber} > 1)
    ORDER BY virtual_time + least(pending, messages_per_second), waiting_since, campaign.id LIMIT 1
    FOR NO KEY UPDATE OF send_slot FOR UPDATE OF slot_queue SKIP LOCKED
  ), dequeued AS (
    UPDATE slot_queue SET waiting = false FROM next WHERE slot_queue.campaign_id = next.campaign_id
  )`;

/** Puts a campaign back into the queue after its signal failed, so that the next handover selects it again. */
export async function rejoinSlotQueue(connection: Connection, campaignId: string): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE slot_queue SET waiting = true WHERE campaign_id = ${campaignId}`);
}

/** Removes a campaign that is no longer RUNNING. */
export async function leaveSlotQueue(connection: Connection, campaignId: string): Promise<void> {
  await connection.query(sql.type(nothing)`
    DELETE FROM slot_queue WHERE campaign_id = ${campaignId}`);
}

interface SlotUsage {
  readonly tokensUsed: number;
  /** Median time to an answer of the provider, in ms. */
  readonly answerMs: number;
  /** No recipient of the campaign is left to be claimed. */
  readonly drained: boolean;
  /** The campaign could send more at once, and waits for a slot. */
  readonly waits: boolean;
}

/**
 * Adds what a step has used to the campaign's virtual time, and the answer time it saw to the channel. Returns the milliseconds
 * after which the campaign asks for a slot again if no signal reaches it: 0 if one is free, because its next holder was faster
 * than this step's end, or because the rest of the campaign is small.
 */
export async function recordSlotUsage(
  connection: Connection,
  { campaignId, channelId }: HeldSlot,
  { tokensUsed, answerMs, drained, waits }: SlotUsage,
): Promise<number> {
  const { retryMs } = await connection.one(sql.type(row(t.type({ retryMs: t.number })))`
    WITH removed AS (
      DELETE FROM slot_queue WHERE campaign_id = ${campaignId} AND ${drained}
    ), usage AS (
      SELECT id AS channel_id, least(${tokensUsed}::int, messages_per_second * ${maxCountedSeconds}::int) AS tokens
      FROM channel WHERE id = ${channelId}
    ), queued AS (
      INSERT INTO slot_queue AS present (campaign_id, channel_id, virtual_time, waiting)
      SELECT ${campaignId}, usage.channel_id, ${joiningTime(sql.fragment`usage.channel_id`, campaignId)} + usage.tokens,
        ${waits} AND NOT ${stepOfCampaignSends(sql.fragment`usage.channel_id`, campaignId)}
      FROM usage JOIN campaign ON campaign.id = ${campaignId} AND campaign.status = 'RUNNING' WHERE NOT ${drained}
      ON CONFLICT (campaign_id) DO UPDATE SET virtual_time = present.virtual_time + (SELECT tokens FROM usage),
        waiting = excluded.waiting, waiting_since = now()
    ), answered AS (
      -- Written only when it moved by a tenth: every step of the channel would update the row otherwise.
      UPDATE channel_rate SET answer_ms = ${answerMs}::float8
      WHERE channel_id = ${channelId} AND abs(answer_ms - ${answerMs}::float8) > answer_ms / 10
    )
    SELECT CASE WHEN EXISTS (${freeSlot(campaignId)}) THEN 0 ELSE ${retryAfterMs(sql.fragment`${channelId}::uuid`)} END AS "retryMs"`);
  return retryMs;
}

/** 1.5 s: a lease of 5 s survives two lost renewals. */
export const renewEveryMs = 1_500;

export type SlotAnswer =
  | { readonly kind: 'acquired'; readonly slotNumber: number }
  /** Every slot is taken. The campaign waits for a signal, and asks again after `retryMs` without one. */
  | { readonly kind: 'busy'; readonly retryMs: number }
  | { readonly kind: 'not_running' };

const Attempt = row(
  t.type({
    slotNumber: nullable(t.number),
    /** A slot could be acquired when the statement began. */
    sawFree: t.boolean,
    retryMs: t.number,
  }),
);

/** Acquires a slot, or puts the campaign into the wait queue unless `joinsQueue` is false. */
export async function acquireSlot(
  connection: Connection,
  request: SlotRequest,
  { joinsQueue = true } = {},
): Promise<SlotAnswer> {
  for (;;) {
    const attempt = await tryToAcquire(connection, request, joinsQueue);
    if (attempt === null) return { kind: 'not_running' };
    const { slotNumber, sawFree, retryMs } = attempt;
    if (slotNumber !== null) return { kind: 'acquired', slotNumber };
    // With `sawFree` another step was faster: there may be a second free slot.
    if (!sawFree) return { kind: 'busy', retryMs };
  }
}

function tryToAcquire(connection: Connection, { campaignId, stepId }: SlotRequest, joinsQueue: boolean) {
  return connection.maybeOne(sql.type(Attempt)`
    WITH asking AS (
      SELECT id, channel_id FROM campaign WHERE id = ${campaignId} AND status = 'RUNNING'
    ), free AS (${freeSlot(campaignId)}), acquired AS (
      INSERT INTO send_slot AS present (channel_id, slot_number, campaign_id, step_id, expires_at)
      SELECT channel_id, slot_number, id, ${stepId}::uuid, ${inMs(leaseMs)} FROM asking CROSS JOIN free
      ON CONFLICT (channel_id, slot_number) DO UPDATE SET campaign_id = excluded.campaign_id, step_id = excluded.step_id,
        expires_at = excluded.expires_at, next_campaign_id = NULL, handover_at = NULL
        WHERE ${mayAcquire(sql.fragment`present`, campaignId)}
      RETURNING slot_number
    ), queued AS (
      INSERT INTO slot_queue (campaign_id, channel_id, virtual_time, waiting)
      SELECT id, channel_id, ${joiningTime(sql.fragment`asking.channel_id`, campaignId)}, true
      FROM asking WHERE ${joinsQueue} AND NOT EXISTS (SELECT FROM acquired)
      ON CONFLICT (campaign_id) DO UPDATE SET waiting = true, waiting_since = now(),
        virtual_time = greatest(slot_queue.virtual_time, excluded.virtual_time)
        WHERE NOT slot_queue.waiting
    ), dequeued AS (
      UPDATE slot_queue SET waiting = false FROM acquired WHERE campaign_id = ${campaignId} AND waiting
    )
    SELECT (SELECT slot_number FROM acquired) AS "slotNumber", EXISTS (SELECT FROM free) AS "sawFree",
      ${retryAfterMs(sql.fragment`asking.channel_id`)} AS "retryMs" FROM asking`);
}

/** False if the lease expired and another step acquired the slot. */
export async function renewSlot(connection: Connection, slot: HeldSlot): Promise<boolean> {
  const renewed = await connection.maybeOne(sql.type(row(t.type({ slot_number: t.number })))`
    UPDATE send_slot SET expires_at = ${inMs(leaseMs)} WHERE ${slotOfStep(slot)} RETURNING slot_number`);
  return renewed !== null;
}

const NextHolder = row(t.type({ next: nullable(t.string) }));

/**
 * HELD → HANDING_OVER, to the next waiting campaign, or with `orToItself` to the same campaign's next step if no campaign waits.
 * The step goes on sending. Returns the campaign to be signalled; null if nothing changed.
 */
export async function handOverSlot(
  connection: Connection,
  slot: HeldSlot,
  { orToItself }: { readonly orToItself: boolean },
): Promise<string | null> {
  const isOpen = isOpenToHandover(sql.fragment`handover_at`);
  return connection.maybeOneFirst(sql.type(NextHolder)`
    WITH ${takeNextWaiting(slot, isOpen)}
    UPDATE send_slot SET handover_at = clock_timestamp(),
      next_campaign_id = COALESCE((SELECT campaign_id FROM next), ${orToItself ? slot.campaignId : null}::uuid)
    WHERE ${slotOfStep(slot)} AND ${isOpen} AND (${orToItself} OR EXISTS (SELECT FROM next))
    RETURNING next_campaign_id AS next`);
}

/**
 * HELD or HANDING_OVER → RESERVED for the next holder, or FREE if no campaign waits. With `reserveMs` the slot stays reserved for
 * the same campaign that long, because the channel cannot send. Returns the campaign to be signalled, if one was selected now.
 */
export async function releaseSlot(
  connection: Connection,
  slot: HeldSlot,
  { reserveMs = 0 } = {},
): Promise<string | null> {
  // A handover to the campaign itself ends with its step; another campaign may wait by now.
  const isOpen = sql.fragment`(${isOpenToHandover(sql.fragment`handover_at`)} OR next_campaign_id = send_slot.campaign_id)`;
  return connection.maybeOneFirst(sql.type(NextHolder)`
    WITH ${takeNextWaiting(slot, sql.fragment`${isOpen} AND ${reserveMs}::float8 = 0`)}, successor AS (
      SELECT CASE WHEN ${reserveMs}::float8 = 0
        THEN COALESCE((SELECT campaign_id FROM next), NULLIF(next_campaign_id, campaign_id)) END AS id
      FROM send_slot WHERE ${slotOfStep(slot)}
    )
    UPDATE send_slot SET step_id = NULL, next_campaign_id = NULL, handover_at = NULL,
      campaign_id = COALESCE(successor.id, campaign_id),
      expires_at = CASE WHEN successor.id IS NULL AND ${reserveMs}::float8 = 0 THEN clock_timestamp()
        ELSE ${inMs(leaseMs + reserveMs)} END
    FROM successor WHERE ${slotOfStep(slot)}
    RETURNING (SELECT campaign_id FROM next WHERE campaign_id = successor.id) AS next`);
}
