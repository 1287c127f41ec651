import type { EventEmitter } from 'node:events';
import { createWatermark } from '../../concurrency/watermark.ts';
import type { Loop } from '../../concurrency/polling-loop.ts';
import { startPollingLoop, type PollingOptions } from '../../concurrency/polling-loop.ts';
import type { Dependencies } from '../../dependencies.ts';
import { fanOutEvents, findWaitingEvent, recentId } from '../../records/webhooks/events.ts';
import { disableFailingWebhooks } from '../../records/webhooks/health.ts';
import { endInactiveDeliveries, sweepTimeouts } from '../../records/webhooks/timeout-sweeper.ts';
import { createScheduler, type SchedulerDependencies } from './schedule-deliveries.ts';

export interface WebhookLoopOptions {
  /** Deliveries that one fan-out statement creates, approximately. */
  readonly fanOutBatch: number;
  /** Pause between polls of an empty queue. */
  readonly idleMs: number;
  /** The longest pause between searches for events, once there were none for about a second. */
  readonly longestIdleMs: number;
  /** The same for deliveries. The fan-out wakes its process's scheduler; the others see what it leaves, and redeliveries. */
  readonly longestSchedulerIdleMs: number;
  readonly sweepEveryMs: number;
  readonly redispatchSeconds: number;
}

export const defaultWebhookLoopOptions: WebhookLoopOptions = {
  fanOutBatch: 1000,
  idleMs: 75,
  longestIdleMs: 250,
  longestSchedulerIdleMs: 1_000,
  sweepEveryMs: 10_000,
  redispatchSeconds: 30,
};

/** 1,000 deliveries: a batch takes so little time that no other statement waits long for its locks. */
const endedBatch = 1_000;
const heartbeatMs = 5_000;

export type LoopDependencies = SchedulerDependencies & Pick<Dependencies, 'metrics'>;

/**
 * The loops of webhooks: event fan-out, delivery scheduler, timeout sweeper. Any number of processes may run them; if one is
 * killed, the others continue its work. `stop` resolves once the statements and starts under way are done. `attempts` emits when
 * attempts of this process begin and end (see start-deliveries).
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
