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
import { sql, type FragmentSqlToken } from 'slonik';

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
export const leaseMs = 5_000;
/** 3 s: starting an activity takes some 100 ms; a campaign that needs longer has lost its signal. */
const handoverMs = 3_000;
/** 5 min: no lease is longer, so a later end was written before the server's clock was set back, and does not count. */
const longestLeaseMs = 5 * 60_000;

export const inMs = (ms: number) =>
  sql.fragment`clock_timestamp() + make_interval(secs => ${ms / 1_000}::float8)`;

export const isLeased = (slot: FragmentSqlToken) =>
  sql.fragment`(${slot}.expires_at > clock_timestamp() AND ${slot}.expires_at <= ${inMs(longestLeaseMs)})`;

/** No handover is under way that its next holder may still take; a time in the future predates a clock rollback. */
export const isOpenToHandover = (handoverAt: FragmentSqlToken) =>
  sql.fragment`COALESCE(${handoverAt} <= ${inMs(-handoverMs)} OR ${handoverAt} > ${inMs(handoverMs)}, true)`;

/** The campaign may acquire the slot: it is FREE, handed over or RESERVED to the campaign, or its handover timed out. */
export const mayAcquire = (slot: FragmentSqlToken, campaignId: string) => sql.fragment`(
  NOT ${isLeased(slot)}
  OR ${slot}.next_campaign_id = ${campaignId}
  OR (${slot}.handover_at IS NOT NULL AND ${isOpenToHandover(sql.fragment`${slot}.handover_at`)})
  OR (${slot}.step_id IS NULL AND ${slot}.campaign_id = ${campaignId}))`;

/** The step holds the slot, in HELD or HANDING_OVER. */
export const slotOfStep = ({ channelId, slotNumber, stepId }: HeldSlot) => sql.fragment`
  send_slot.channel_id = ${channelId} AND send_slot.slot_number = ${slotNumber} AND send_slot.step_id = ${stepId}`;

/** Another step of the campaign holds a slot, and is not handing it over to the campaign itself. */
export const stepOfCampaignSends = (channelId: FragmentSqlToken, campaignId: string) => sql.fragment`EXISTS (
  SELECT FROM send_slot WHERE send_slot.channel_id = ${channelId} AND send_slot.campaign_id = ${campaignId}
    AND step_id IS NOT NULL AND ${isLeased(sql.fragment`send_slot`)} AND next_campaign_id IS DISTINCT FROM ${campaignId}::uuid)`;

/** A step of the campaign holds a slot of its channel, or a slot is kept for it. For a row of `slot_queue`. */
export const hasSlot = (queued: FragmentSqlToken) => sql.fragment`EXISTS (
  SELECT FROM send_slot AS held WHERE held.channel_id = ${queued}.channel_id AND ${isLeased(sql.fragment`held`)}
    AND (held.campaign_id = ${queued}.campaign_id OR (held.next_campaign_id = ${queued}.campaign_id
      AND NOT ${isOpenToHandover(sql.fragment`held.handover_at`)})))`;
