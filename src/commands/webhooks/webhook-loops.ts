import type { EventEmitter } from 'node:events';
import { createWatermark } from '../../concurrency/watermark.ts';
import {
  errorName,
  type Loop,
  type PollingOptions,
  startPollingLoop,
} from '../../concurrency/polling-loop.ts';
import type { Dependencies } from '../../dependencies.ts';
import { fanOutEvents, findWaitingEvent, recentId } from '../../records/webhooks/events.ts';
import { disableFailingWebhooks } from '../../records/webhooks/configurations.ts';
import {
  countSchedulers,
  endInactiveDeliveries,
  failUndialled,
  findWaitingDelivery,
  forgetScheduler,
  returnDeliveries,
  type ScheduledDelivery,
  scheduleDeliveries,
  sweepTimeouts,
} from '../../records/webhooks/delivery-scheduler.ts';
import { continueResend, listRunningResends } from '../../records/webhooks/resends.ts';
import { createId } from '../../records/database/uuid-v7.ts';
import { within } from '../../concurrency/within.ts';

export interface WebhookLoopOptions {
  /** Deliveries that one fan-out statement creates, approximately. */
  readonly fanOutBatch: number;
  /** Pause between polls of an empty queue. */
  readonly idleMs: number;
  /** The longest pause between searches for events once none was found for about a second. */
  readonly longestIdleMs: number;
  /** The same for deliveries. The fan-out wakes the scheduler of its process; the others find what is left, and redeliveries. */
  readonly longestSchedulerIdleMs: number;
  readonly sweepEveryMs: number;
  /** Pause between searches for deliveries that a resend may make. */
  readonly resendEveryMs: number;
  readonly redispatchSeconds: number;
}

export const defaultWebhookLoopOptions: WebhookLoopOptions = {
  fanOutBatch: 1000,
  idleMs: 75,
  longestIdleMs: 250,
  longestSchedulerIdleMs: 1_000,
  sweepEveryMs: 10_000,
  resendEveryMs: 1_000,
  redispatchSeconds: 30,
};

/** 1,000 deliveries: a batch takes so little time that no other statement waits long for its locks. */
const endedBatch = 1_000;
const heartbeatMs = 5_000;

export type LoopDependencies = SchedulerDependencies & Pick<Dependencies, 'metrics'>;

/**
 * The webhook loops: event fan-out, delivery scheduler, timeout sweeper. Any number of processes may run them; if one is killed,
 * the others continue its work. `stop` resolves once the statements and starts in flight are done. `attempts` emits when this
 * process's attempts begin and end (see `createDeliveryStarts`).
 */
export function startWebhookLoops(
  dependencies: LoopDependencies,
  options: WebhookLoopOptions = defaultWebhookLoopOptions,
  attempts?: EventEmitter,
): Loop {
  const { database, logger, config, metrics } = dependencies;
  const waitingEvent = createWatermark<string>();
  const scheduler = createScheduler(dependencies, attempts);
  const loop = (name: string, idleMs: number, work: () => Promise<boolean>) =>
    startPollingLoop({ name, logger, idleMs, work });
  const queue = (name: string, longestIdleMs: number, work: PollingOptions['work']) =>
    startPollingLoop({ name, logger, idleMs: options.idleMs, longestIdleMs, work });

  const deliveries = queue('delivery scheduler', options.longestSchedulerIdleMs, scheduler.poll);
  const loops = [
    deliveries,
    queue('event fan-out', options.longestIdleMs, async () => {
      const first = await waitingEvent.find(
        (from) => findWaitingEvent(database, from),
        () => recentId(database),
      );
      if (first === undefined) return 'empty';
      const { events } = await fanOutEvents(database, options.fanOutBatch, first);
      if (events > 0) deliveries.wake();
      return events > 0;
    }),
    loop('scheduler heartbeat', heartbeatMs, scheduler.heartbeat),
    loop('inactive webhooks', options.sweepEveryMs, async () => {
      for (const { id, workspaceId } of await disableFailingWebhooks(
        database,
        config.webhookDisableAfterHours,
      )) {
        metrics.webhooksDisabled.inc();
        logger.warn({ webhookId: id, workspaceId }, 'webhook disabled: every delivery failed');
      }
      const ended = await endInactiveDeliveries(database, endedBatch);
      for (const outcome of ended) metrics.webhooksSwept.inc({ outcome });
      return ended.length === endedBatch;
    }),
    loop('webhook resends', options.resendEveryMs, async () => {
      let more = false;
      for (const id of await listRunningResends(database))
        more = (await continueResend(database, id)) || more;
      return more;
    }),
    loop('timeout sweeper', options.sweepEveryMs, async () => {
      const swept = await sweepTimeouts(database, {
        expiryHours: config.webhookExpiryHours,
        redispatchSeconds: options.redispatchSeconds,
      });
      for (const [outcome, count] of Object.entries(swept)) metrics.webhooksSwept.inc({ outcome }, count);
      if (swept.interrupted + swept.expired + swept.returned > 0)
        logger.warn(swept, 'webhook deliveries timed out');
      return false;
    }),
  ];
  return {
    stop: async () => {
      await Promise.all(loops.map((one) => one.stop()));
      await scheduler.stop();
    },
  };
}

/** 500 ms: under load the watermark of waiting deliveries is not searched more often, as a search costs as much as a poll. */
const watermarkMs = 500;

export type SchedulerDependencies = Pick<Dependencies, 'database' | 'logger' | 'config'> & {
  readonly orchestrator: Pick<Dependencies['orchestrator'], 'startWebhookDelivery'>;
};

/** One of the installation's delivery schedulers. Each poll covers some of the shards, and the next poll those after them. */
export function createScheduler(
  { database, orchestrator, logger, config }: SchedulerDependencies,
  attempts?: EventEmitter,
) {
  const id = createId();
  const { webhookShards: count, webhookSlots: slots, webhookStarts } = config;
  const starts = createDeliveryStarts(
    { database, orchestrator, logger },
    { starts: webhookStarts, slots },
    attempts,
  );
  const waiting = createWatermark<string>();
  let schedulers = 1;
  let first = Math.floor(Math.random() * count);
  /** Shards looked at in a row without a delivery to start. */
  let emptyShards = 0;
  let watermark: string | undefined;
  let foundAt = -Infinity;

  async function findWatermark(): Promise<string | undefined> {
    if (watermark !== undefined && performance.now() - foundAt < watermarkMs) return watermark;
    watermark = await waiting.find(
      (from) => findWaitingDelivery(database, from),
      () => recentId(database),
    );
    foundAt = performance.now();
    return watermark;
  }

  return {
    async poll(): Promise<boolean | 'empty'> {
      await starts.untilHalfFree();
      const free = starts.freeSlots();
      if (free.fast === 0) return false;
      const from = await findWatermark();
      if (from === undefined) return 'empty';
      const { shards, deliveries } = await scheduleDeliveries(
        database,
        {
          // Twice this scheduler's share, so that shards are polled often and a stalled scheduler leaves no gap.
          shards: { count, first, most: Math.ceil((2 * count) / schedulers) },
          limit: free.fast,
          slowLimit: free.slow,
          perEndpoint: config.webhookSlotsPerEndpoint,
          slowPerShard: Math.ceil((slots * schedulers) / count / 4),
          expiryHours: config.webhookExpiryHours,
        },
        from,
      );
      first = ((shards.at(-1) ?? first) + 1) % count;
      for (const delivery of deliveries) starts.start(delivery);
      const isBusy = deliveries.some(({ slow }) => !slow);
      emptyShards = isBusy ? 0 : emptyShards + shards.length;
      if (isBusy) return true;
      watermark = undefined;
      // Something is waiting, so this scheduler pauses only after it has looked at every shard.
      if (shards.length > 0 && emptyShards < count) return true;
      emptyShards = 0;
      return false;
    },
    async heartbeat(): Promise<boolean> {
      schedulers = await countSchedulers(database, id);
      return false;
    },
    async stop(): Promise<void> {
      await starts.drain();
      await forgetScheduler(database, id).catch(() => undefined);
    },
  };
}

/**
 * Starts the workflows of deliveries that were handed out, within two semaphores of fixed size. A delivery holds
 *
 *   a start slot      from its hand-out until its attempt begins, so that no queue forms in Temporal, which is not fair to webhooks;
 *   a delivery slot   until its attempt ends, so that this process holds no more attempts than it was sized for.
 *
 * Slow endpoints have their own slots, a quarter as many, and take none from fast ones.
 */

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

  /** Listens before requesting the start, because the attempt may begin and end before the server responds. */
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
    /** Deliveries that may be started now; none for a while after Temporal failed to respond. */
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
