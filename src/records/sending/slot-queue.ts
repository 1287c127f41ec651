/**
 * The wait queue of a channel's send slots (table `slot_queue`): start-time fair queueing. A campaign's virtual time is the
 * number of tokens it has used; the waiting campaign with the lowest virtual time gets the next slot.
 */
import { sql, type FragmentSqlToken } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nothing, row } from '../database/row.ts';
import {
  hasSlot,
  isLeased,
  mayAcquire,
  slotOfStep,
  stepOfCampaignSends,
  type HeldSlot,
} from './slot-state.ts';

/** Slot 1 takes any campaign, slots 2 to 4 only small ones. */
const slotsPerChannel = 4;
/** One step adds at most 2 s of the channel's rate to a virtual time, so that a campaign which sent alone is not set back for long. */
const maxCountedSeconds = 2;

/** All waiting campaigns of a channel together ask twice a second: each request costs ten events of workflow history. */
const requestsPerSecond = 2;
/** 4 s: longer than a handover may take (3 s), so a campaign asks again only when its signal was lost. */
const minRetryMs = 4_000;

/** A campaign is small if its channel sends the rest of it within 250 ms. For a join of campaign_counter and channel. */
export const isSmall = sql.fragment`(pending <= greatest(2, messages_per_second / 4))`;

/**
 * The slot that the campaign may acquire now; no row without one, or while another of its steps holds a slot. First comes a slot
 * that is kept for the campaign; a small campaign leaves slot 1 to the large ones if it can.
 */
export const freeSlot = (campaignId: string) => sql.fragment`
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
export const retryAfterMs = (channelId: FragmentSqlToken) => sql.fragment`greatest(${minRetryMs}::float8,
  (SELECT count(*) FROM slot_queue AS waiter WHERE waiter.channel_id = ${channelId} AND waiter.waiting)
    * 1000.0 / ${requestsPerSecond})::float8`;

/**
 * Virtual time at which a campaign joins the queue: that of the campaign furthest behind among the others that wait or hold a
 * slot. A campaign collects no credit while it has nothing to send, and does not hold the virtual time of others back. If no other
 * waits or holds a slot, that of the campaign furthest ahead: it may be between two steps, and would otherwise get no slot until
 * the new campaigns have used as much.
 */
export const joiningTime = (channelId: FragmentSqlToken, campaignId: string) => sql.fragment`(
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
export const takeNextWaiting = (slot: HeldSlot, isOpen: FragmentSqlToken) => sql.fragment`
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

export interface SlotUsage {
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
