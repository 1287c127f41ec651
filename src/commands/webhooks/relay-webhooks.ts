import type { EventEmitter } from 'node:events';
import { createLowWater } from '../../concurrency/low-water.ts';
import type { Dependencies } from '../../dependencies.ts';
import { fanOutEvents, findWaitingEvent, recentId } from '../../records/webhooks/events.ts';
import type { DispatchLimits } from '../../records/webhooks/dispatch.ts';
import { dispatchDeliveries } from '../../records/webhooks/dispatch.ts';
import { endInactiveDeliveries, sweepDeliveries } from '../../records/webhooks/endings.ts';
import { findWaitingDelivery } from '../../records/webhooks/waiting.ts';
import type { Loop } from '../../concurrency/polling-loop.ts';
import { startPollingLoop } from '../../concurrency/polling-loop.ts';
import { createDeliveryStarts, type StartLimits } from './start-deliveries.ts';

export interface RelayOptions {
  readonly dispatch: Omit<DispatchLimits, 'limit' | 'slowLimit'>;
  readonly starts: StartLimits;
  /** Deliveries that one fan-out statement makes, or about as many. */
  readonly fanOutBatch: number;
  /** Between rounds when there is nothing to do: the latency of a lone event is up to twice this. */
  readonly idleMs: number;
  readonly sweepEveryMs: number;
  readonly redispatchSeconds: number;
}

export const defaultRelayOptions: RelayOptions = {
  dispatch: {
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
  sweepEveryMs: 10_000,
  redispatchSeconds: 30,
};

/** Few enough that nobody waits for them. */
const endedAtATime = 1_000;

type RelayDependencies = Pick<Dependencies, 'database' | 'orchestrator' | 'logger' | 'config' | 'metrics'>;

/**
 * Runs beside the webhook worker: events become deliveries, deliveries whose turn it is become workflows. Any number of
 * relays may run; a killed one leaves nothing that the others, or the next one, do not pick up. `stop` resolves once the
 * rounds and starts under way are over. `begun` is that of the activities in the same process.
 */
export function startWebhookRelay(
  dependencies: RelayDependencies,
  options: RelayOptions = defaultRelayOptions,
  begun?: EventEmitter,
): Loop {
  const { database, logger, config, metrics } = dependencies;
  const starts = createDeliveryStarts(dependencies, options.starts, begun);

  const waitingEvent = createLowWater<string>();
  const waitingDelivery = createLowWater<string>();
  const recent = () => recentId(database);

  const loops = [
    startPollingLoop({
      name: 'webhook fan-out',
      logger,
      idleMs: options.idleMs,
      work: async () => {
        const first = await waitingEvent.find((from) => findWaitingEvent(database, from), recent);
        if (first === undefined) return false;
        return (await fanOutEvents(database, options.fanOutBatch, first)).events > 0;
      },
    }),
    startPollingLoop({
      name: 'webhook dispatch',
      logger,
      idleMs: options.idleMs,
      work: async () => {
        await starts.untilRoom();
        const limit = starts.room();
        if (limit <= 0) return false;
        const first = await waitingDelivery.find((from) => findWaitingDelivery(database, from), recent);
        if (first === undefined) return false;
        const slowLimit = starts.slowRoom();
        const dispatched = await dispatchDeliveries(
          database,
          { ...options.dispatch, limit, slowLimit, expiryHours: config.webhookExpiryHours },
          first,
        );
        for (const delivery of dispatched) starts.start(delivery);
        return dispatched.some(({ slow }) => !slow);
      },
    }),
    startPollingLoop({
      name: 'webhook end',
      logger,
      idleMs: options.sweepEveryMs,
      work: async () => {
        const ended = await endInactiveDeliveries(database, endedAtATime);
        metrics.webhooksSwept.inc({ outcome: 'endpoint_inactive' }, ended);
        return ended === endedAtATime;
      },
    }),
    startPollingLoop({
      name: 'webhook sweep',
      logger,
      idleMs: options.sweepEveryMs,
      work: async () => {
        const { webhookExpiryHours: expiryHours } = config;
        const swept = await sweepDeliveries(database, {
          expiryHours,
          redispatchSeconds: options.redispatchSeconds,
        });
        for (const [outcome, count] of Object.entries(swept)) metrics.webhooksSwept.inc({ outcome }, count);
        if (swept.interrupted + swept.expired + swept.returned > 0) {
          logger.warn(swept, 'webhook deliveries swept');
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
