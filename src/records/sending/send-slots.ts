/**
 * The four send slots of a channel: leases in `send_slot`, whose states `slot-state.ts` lists. Slot 1 takes any campaign;
 * slots 2 to 4 take only small campaigns, so that a crowd of them does not wait behind a large one, or for one another's
 * round trips. Invariant: at most one step holds a slot, and at most one step of a campaign holds any.
 */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { nullable, row } from '../database/row.ts';
import { freeSlot, joiningTime, retryAfterMs, takeNextWaiting } from './slot-queue.ts';
import {
  inMs,
  isOpenToHandover,
  leaseMs,
  mayAcquire,
  slotOfStep,
  type HeldSlot,
  type SlotRequest,
} from './slot-state.ts';

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
