/** The send slot of one step: renews the lease, hands the slot over, and releases it. Its states: `records/sending/send-slots.ts`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { errorName } from '../../concurrency/polling-loop.ts';
import type { Connection } from '../../records/database/database.ts';
import {
  acquireSlot,
  handOverSlot,
  type HeldSlot,
  rejoinSlotQueue,
  releaseSlot,
  renewEveryMs,
  renewSlot,
  type SlotAnswer,
  type SlotRequest,
} from '../../records/sending/send-slots.ts';
import type { Sender } from './batch-claimer.ts';

/** 300 ms, in steps of 30: small campaigns free their slots that soon, and a new activity would cost more. */
const singleBatchWaitMs = 300;
const singleBatchRetryMs = 30;
/** 1 s: a step sends at least this long before it hands over to another campaign. */
const minSendingMs = 1_000;
/** 3.5 s: longer than a handover may take (3 s), so that two next holders never overlap. */
const handoverEveryMs = 3_500;

/** A step that sends a single batch retries for up to 300 ms and does not join the wait queue. */
export async function requestSlot(
  database: Connection,
  request: SlotRequest,
  singleBatch: boolean,
): Promise<SlotAnswer> {
  const givesUpAt = performance.now() + singleBatchWaitMs;
  for (;;) {
    const answer = await acquireSlot(database, request, { joinsQueue: !singleBatch });
    if (!singleBatch || answer.kind !== 'busy' || performance.now() > givesUpAt) return answer;
    await sleep(singleBatchRetryMs);
  }
}

export class SlotLease {
  readonly slot: HeldSlot;
  readonly #dependencies: Sender;
  readonly #renewal: NodeJS.Timeout;
  #isHeld = true;
  #handoverAt = performance.now() + minSendingMs;

  constructor(dependencies: Sender, slot: HeldSlot) {
    this.#dependencies = dependencies;
    this.slot = slot;
    this.#renewal = setInterval(() => void this.#renew(), renewEveryMs);
  }

  /** False once another step has acquired the slot; this step then claims no more. */
  isHeld(): boolean {
    return this.#isHeld;
  }

  markLost(): void {
    this.#isHeld = false;
  }

  /** Slot 1 may use the channel's whole throughput, each small slot a quarter of it. */
  get share(): number {
    return this.slot.slotNumber === 1 ? 1 : 1 / 4;
  }

  /** Signals the next holder, at most once in 3.5 s; the step keeps sending until that one acquires the slot. */
  handOver(orToItself: boolean): void {
    const now = performance.now();
    if (now < this.#handoverAt) return;
    this.#handoverAt = now + handoverEveryMs;
    void this.#signal(handOverSlot(this.#dependencies.database, this.slot, { orToItself }));
  }

  /** Returns whether a waiting campaign was signalled. */
  release(reserveMs: number): Promise<boolean> {
    return this.#signal(releaseSlot(this.#dependencies.database, this.slot, { reserveMs }));
  }

  stopRenewing(): void {
    clearInterval(this.#renewal);
  }

  async #renew(): Promise<void> {
    // After an error the lease stays valid for two more renewals.
    const renewed = await renewSlot(this.#dependencies.database, this.slot).catch(() => true);
    if (!renewed) this.#isHeld = false;
  }

  /** A campaign whose signal fails rejoins the wait queue; its own workflow asks for a slot again later. */
  async #signal(selected: Promise<string | null>): Promise<boolean> {
    const { database, orchestrator, logger } = this.#dependencies;
    let next: string | null = null;
    try {
      next = await selected;
      if (next !== null) await orchestrator.refreshCampaign(next);
      return next !== null;
    } catch (error) {
      logger.warn({ error: errorName(error) }, 'could not signal the next campaign of the channel');
      if (next !== null) await rejoinSlotQueue(database, next).catch(() => undefined);
      return false;
    }
  }
}
