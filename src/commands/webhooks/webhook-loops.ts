import type { EventEmitter } from 'node:events';
import { createWatermark } from '../../concurrency/watermark.ts';
import type { Dependencies } from '../../dependencies.ts';
import { fanOutEvents, findWaitingEvent, recentId } from '../../records/webhooks/events.ts';
import type { SchedulerLimits } from '../../records/webhooks/delivery-scheduler.ts';
import { scheduleDeliveries } from '../../records/webhooks/delivery-scheduler.ts';
import { endInactiveDeliveries, sweepTimeouts } from '../../records/webhooks/timeout-sweeper.ts';
import { findWaitingDelivery } from '../../records/webhooks/waiting.ts';
import type { Loop } from '../../concurrency/polling-loop.ts';
import { startPollingLoop } from '../../concurrency/polling-loop.ts';
import { createDeliveryStarts, type StartLimits } from './start-deliveries.ts';

export interface WebhookLoopOptions {
  readonly scheduler: Omit<SchedulerLimits, 'limit' | 'slowLimit'>;
  readonly starts: StartLimits;
  /** Deliveries that one fan-out statement makes, or about as many. */
  readonly fanOutBatch: number;
  /** Between rounds when there is nothing to do: the latency of a lone event is up to twice this. */
  readonly idleMs: number;
  /** The same once nothing has happened for a second or so. */
  readonly longestIdleMs: number;
  readonly sweepEveryMs: number;
  readonly redispatchSeconds: number;
}

export const defaultWebhookLoopOptions: WebhookLoopOptions = {
  scheduler: {
    perEndpoint: { idle: 100, busy: 20, crowded: 2 },
    busyAt: 200,
    crowdedAt: 600,
    pool: 1000,
    late: 8,
    lateAfterMs: 250,
    slowAfter: 1,
    hangingAfterSeconds: 1,
    expiryHours: 24,
  },
  starts: { fewest: 4, most: 32, targetMs: 150, aloneMs: 500, slow: 3 },
  fanOutBatch: 1000,
  idleMs: 75,
  longestIdleMs: 250,
  sweepEveryMs: 10_000,
  redispatchSeconds: 30,
};

/** Few enough that nobody waits for them. */
const endedAtATime = 1_000;

type LoopDependencies = Pick<Dependencies, 'database' | 'orchestrator' | 'logger' | 'config' | 'metrics'>;

/**
 * Runs beside the webhook worker: events become deliveries, deliveries whose turn it is become workflows. Any number of
 * relays may run; a killed one leaves nothing that the others, or the next one, do not pick up. `stop` resolves once the
 * rounds and starts under way are over. `begun` is that of the activities in the same process.
 */
export function startWebhookLoops(
  dependencies: LoopDependencies,
  options: WebhookLoopOptions = defaultWebhookLoopOptions,
  begun?: EventEmitter,
): Loop {
  const { database, logger, config, metrics } = dependencies;
  const starts = createDeliveryStarts(dependencies, options.starts, begun);

  const waitingEvent = createWatermark<string>();
  const waitingDelivery = createWatermark<string>();
  const recent = () => recentId(database);

  const loops = [
    startPollingLoop({
      name: 'event fan-out',
      logger,
      idleMs: options.idleMs,
      longestIdleMs: options.longestIdleMs,
      work: async () => {
        const first = await waitingEvent.find((from) => findWaitingEvent(database, from), recent);
        if (first === undefined) return 'empty';
        return (await fanOutEvents(database, options.fanOutBatch, first)).events > 0;
      },
    }),
    startPollingLoop({
      name: 'delivery scheduler',
      logger,
      idleMs: options.idleMs,
      longestIdleMs: options.longestIdleMs,
      work: async () => {
        await starts.untilRoom();
        const limit = starts.room();
        if (limit <= 0) return false;
        const first = await waitingDelivery.find((from) => findWaitingDelivery(database, from), recent);
        if (first === undefined) return 'empty';
        const slowLimit = starts.slowRoom();
        const scheduled = await scheduleDeliveries(
          database,
          { ...options.scheduler, limit, slowLimit, expiryHours: config.webhookExpiryHours },
          first,
        );
        for (const delivery of scheduled) starts.start(delivery);
        return scheduled.some(({ slow }) => !slow);
      },
    }),
    startPollingLoop({
      name: 'inactive webhooks',
      logger,
      idleMs: options.sweepEveryMs,
      work: async () => {
        const ended = await endInactiveDeliveries(database, endedAtATime);
        metrics.webhooksSwept.inc({ outcome: 'endpoint_inactive' }, ended);
        return ended === endedAtATime;
      },
    }),
    startPollingLoop({
      name: 'timeout sweeper',
      logger,
      idleMs: options.sweepEveryMs,
      work: async () => {
        const { webhookExpiryHours: expiryHours } = config;
        const swept = await sweepTimeouts(database, {
          expiryHours,
          redispatchSeconds: options.redispatchSeconds,
        });
        for (const [outcome, count] of Object.entries(swept)) metrics.webhooksSwept.inc({ outcome }, count);
        if (swept.interrupted + swept.expired + swept.returned > 0) {
          logger.warn(swept, 'webhook deliveries timed out');
        }
        return false;
      },
    }),
  ];
  return {
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()));
      await starts.drain();
    },
  };
}
