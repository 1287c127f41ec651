/**
 * Starts the workflows of deliveries that were handed out, within two semaphores of fixed size. A delivery holds
 *
 *   a start slot      from its hand-out until its attempt begins, so that no queue forms in Temporal, which is not fair to webhooks;
 *   a delivery slot   until its attempt ends, so that this process holds no more attempts than it was sized for.
 *
 * Slow endpoints have slots of their own, a quarter as many: they take none from fast ones.
 */
import type { EventEmitter } from 'node:events';
import { errorName } from '../../concurrency/polling-loop.ts';
import { within } from '../../concurrency/within.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { ScheduledDelivery } from '../../records/webhooks/delivery-scheduler.ts';
import { failUndialled, returnDeliveries } from '../../records/webhooks/timeout-sweeper.ts';

export interface StartLimits {
  /** Workflow starts under way in this process. */
  readonly starts: number;
  /** Attempts under way in this process. */
  readonly slots: number;
}

/** Pause after a start that failed, in ms. */
const holdMs = 1000;
/** 3 s: if an attempt of this process has not begun by then, the workflow is assumed to run in another process. */
const beginsWithinMs = 3000;
/** 250 ms: a workflow that the server put into the task queue is assumed to begin by then, in any process. */
const queuedMs = 250;
/** Longer than the lease of an attempt (15 s), so that a lost end cannot hold a slot for ever. */
const endsWithinMs = 30_000;

interface Slots {
  starting: number;
  open: number;
}

export function createDeliveryStarts(
  {
    database,
    orchestrator,
    logger,
  }: Pick<Dependencies, 'database' | 'logger'> & {
    readonly orchestrator: Pick<Dependencies['orchestrator'], 'startWebhookDelivery'>;
  },
  limits: StartLimits,
  attempts?: EventEmitter,
) {
  const fast: Slots = { starting: 0, open: 0 };
  const slow: Slots = { starting: 0, open: 0 };
  const starting = new Set<Promise<void>>();
  let heldUntil = 0;
  let onHalfFree = (): void => undefined;

  const free = ({ starting: started, open }: Slots, share: number): number =>
    Math.max(0, Math.min(Math.ceil(limits.starts * share) - started, Math.ceil(limits.slots * share) - open));
  const isHalfFree = (): boolean => free(fast, 1) >= limits.starts / 2;

  async function startWorkflow(id: string, begun: Promise<void> | undefined): Promise<boolean> {
    try {
      const outcome = await orchestrator.startWebhookDelivery(id);
      if (outcome === 'closed') await failUndialled(database, id);
      else if (begun !== undefined) await within(outcome === 'here' ? beginsWithinMs : queuedMs, begun);
      return outcome === 'here';
    } catch (error) {
      if (performance.now() > heldUntil)
        logger.warn(
          { deliveryId: id, error: errorName(error) },
          'Temporal did not start the workflow of a webhook delivery',
        );
      heldUntil = performance.now() + holdMs;
      // The delivery waits again. If this statement fails too, the timeout sweeper does it later.
      await returnDeliveries(database, [id]).catch(() => undefined);
      return false;
    }
  }

  /** Listens before the start is asked for: the attempt may begin, and end, before the server's answer arrives. */
  function attemptOf(id: string) {
    if (attempts === undefined) return undefined;
    const forget: (() => void)[] = [];
    const eventOnce = (event: string): Promise<void> =>
      new Promise((resolve) => {
        attempts.once(event, resolve);
        forget.push(() => attempts.off(event, resolve));
      });
    return {
      begun: eventOnce(`begun ${id}`),
      ended: eventOnce(`ended ${id}`),
      forget: () => forget.forEach((off) => off()),
    };
  }

  async function run({ id, slow: isSlow }: ScheduledDelivery): Promise<void> {
    const slots = isSlow ? slow : fast;
    slots.starting += 1;
    slots.open += 1;
    const attempt = attemptOf(id);
    const isHere = await startWorkflow(id, attempt?.begun);
    slots.starting -= 1;
    if (isHalfFree()) onHalfFree();
    const end = isHere && attempt !== undefined ? within(endsWithinMs, attempt.ended) : Promise.resolve();
    void end.then(() => {
      attempt?.forget();
      slots.open -= 1;
      if (isHalfFree()) onHalfFree();
    });
  }

  return {
    /** Deliveries that may be started now; none for a while after Temporal did not answer. */
    freeSlots: () =>
      performance.now() < heldUntil ? { fast: 0, slow: 0 } : { fast: free(fast, 1), slow: free(slow, 1 / 4) },
    /** Resolves when half of the start slots are free: scheduling eight deliveries costs as much as scheduling one. */
    async untilHalfFree(): Promise<void> {
      if (isHalfFree()) return;
      await new Promise<void>((resolve) => {
        onHalfFree = resolve;
      });
    },
    start(delivery: ScheduledDelivery): void {
      const started = run(delivery).finally(() => starting.delete(started));
      starting.add(started);
    },
    /** Resolves once no start is under way; attempts may still be. */
    drain: () => Promise.all(starting),
  };
}
