/** Starts the workflows of dispatched deliveries: as many at a time as the Temporal server takes without a queue of its own. */
import type { EventEmitter } from 'node:events';
import type { Dependencies } from '../../dependencies.ts';
import type { ScheduledDelivery } from '../../records/webhooks/delivery-scheduler.ts';
import { failUndialled, returnDeliveries } from '../../records/webhooks/timeout-sweeper.ts';
import { errorName } from '../../concurrency/polling-loop.ts';

export interface StartLimits {
  /** Under way at a time in this process, at least and at most. */
  readonly fewest: number;
  readonly most: number;
  /**
   * From the call to the beginning of the attempt, where that is in this process. One that takes longer found others before it, in
   * the server or here: half as many at a time, so that a newcomer does not wait behind them.
   */
  readonly targetMs: number;
  /** The same while no other workspace has anything that waits: more at a time cost less each. */
  readonly aloneMs: number;
  /** Of them at most, one in `fewest`, for slow endpoints: each of those costs the server a workflow for next to nothing. */
  readonly slow: number;
}

/** How long nothing is started after a start that failed. */
const holdMs = 1000;
/** What a quick start adds to the number at a time, where that was what kept others waiting. */
const quickStep = 0.25;
/** A workflow that has not begun by then does so elsewhere. */
const beginsWithinMs = 3000;

export function createDeliveryStarts(
  { database, orchestrator, logger }: Pick<Dependencies, 'database' | 'orchestrator' | 'logger'>,
  { fewest, most, targetMs, aloneMs, slow: slowAtATime }: StartLimits,
  begun?: EventEmitter,
) {
  const underWay = new Set<Promise<void>>();
  let atATime = fewest;
  let halvedAt = 0;
  let slowUnderWay = 0;
  let heldUntil = 0;
  let onRoom = (): void => undefined;

  async function startWorkflow({ id: deliveryId, alone }: ScheduledDelivery): Promise<void> {
    const startedAt = performance.now();
    const beginning = awaitBeginning(deliveryId);
    try {
      const outcome = await orchestrator.startWebhookDelivery(deliveryId);
      if (outcome === 'here') await beginning?.over;
      const endedAt = performance.now();
      if (endedAt - startedAt <= (alone ? aloneMs : targetMs)) {
        if (!isHalfFree()) atATime = Math.min(most, atATime + quickStep);
      } else if (startedAt > halvedAt) {
        // Once for all that were under way together.
        atATime = Math.max(fewest, atATime / 2);
        halvedAt = endedAt;
      }
      if (outcome === 'closed') await failUndialled(database, deliveryId);
    } catch (error) {
      // Temporal is away: the delivery takes its place in the queue again.
      if (performance.now() > heldUntil)
        logger.warn({ error: errorName(error) }, 'webhook deliveries delayed');
      heldUntil = performance.now() + holdMs;
      // Should this fail too, the sweep returns it later.
      await returnDeliveries(database, [deliveryId]).catch(() => undefined);
    } finally {
      beginning?.forget();
    }
  }

  /** Listens before the start is asked for: its answer may come after the beginning. */
  function awaitBeginning(deliveryId: string) {
    if (begun === undefined) return undefined;
    let forget = (): void => undefined;
    const over = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, beginsWithinMs);
      begun.once(deliveryId, resolve);
      forget = () => {
        clearTimeout(timer);
        begun.off(deliveryId, resolve);
      };
    });
    return { over, forget };
  }

  const isHalfFree = (): boolean => underWay.size <= atATime / 2;

  return {
    room: () => (performance.now() < heldUntil ? 0 : Math.floor(atATime) - underWay.size),
    slowRoom: () => Math.max(0, Math.min(slowAtATime, Math.floor(atATime / fewest)) - slowUnderWay),
    /** Resolves when half of the starts may be made at once: a round of several costs as much as a round of one. */
    async untilRoom(): Promise<void> {
      if (isHalfFree()) return;
      await new Promise<void>((resolve) => {
        onRoom = resolve;
      });
    },
    start(delivery: ScheduledDelivery): void {
      const slow = Number(delivery.slow);
      slowUnderWay += slow;
      const started = startWorkflow(delivery).finally(() => {
        underWay.delete(started);
        slowUnderWay -= slow;
        if (isHalfFree()) onRoom();
      });
      underWay.add(started);
    },
    drain: () => Promise.all(underWay),
  };
}
