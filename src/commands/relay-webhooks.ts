import type { Dependencies } from '../dependencies.ts';
import { fanOutEvents } from '../records/events.ts';
import type { Dispatched, DispatchLimits } from '../records/webhook-dispatch.ts';
import {
  dispatchDeliveries,
  failUndialled,
  isSendingBehind,
  returnDeliveries,
  sweepDeliveries,
} from '../records/webhook-dispatch.ts';
import type { Loop } from './polling-loop.ts';
import { errorName, startPollingLoop } from './polling-loop.ts';
import { createPace, createProcessorMeter } from './webhook-pace.ts';

export interface RelayOptions {
  readonly dispatch: Omit<DispatchLimits, 'limit' | 'slowLimit'>;
  /** Starts under way at a time in this process: what the Temporal server can chew without a queue of its own. */
  readonly startsAtATime: number;
  /** Of them, for slow endpoints: each of those costs the server a workflow for nothing, or next to nothing. */
  readonly slowStartsAtATime: number;
  /** Events of one fan-out statement. */
  readonly fanOutBatch: number;
  /** Between rounds when there is nothing to do: the latency of a lone event is up to twice this. */
  readonly idleMs: number;
  readonly sweepEveryMs: number;
  readonly redispatchSeconds: number;
  /** How often the relay looks whether it is in the way of sending. */
  readonly paceMs: number;
}

export const defaultRelayOptions: RelayOptions = {
  dispatch: {
    perEndpoint: { idle: 100, busy: 20, crowded: 2 },
    busyAt: 200,
    crowdedAt: 600,
    pool: 1000,
    slowAfter: 2,
    hangingAfterSeconds: 2,
  },
  startsAtATime: 32,
  slowStartsAtATime: 3,
  fanOutBatch: 500,
  idleMs: 75,
  sweepEveryMs: 10_000,
  redispatchSeconds: 30,
  paceMs: 250,
};

/** Share of the processors that leaves nothing to spare. */
const crammed = 0.9;

type RelayDependencies = Pick<Dependencies, 'database' | 'orchestrator' | 'logger' | 'config' | 'metrics'>;

/** How long nothing is started after a start that failed. */
const holdMs = 1000;

/** Starts the workflows of dispatched deliveries, few at a time. */
function createStarter(
  { database, orchestrator, logger }: RelayDependencies,
  { startsAtATime, slowStartsAtATime }: Pick<RelayOptions, 'startsAtATime' | 'slowStartsAtATime'>,
) {
  const underWay = new Set<Promise<void>>();
  let slowUnderWay = 0;
  let heldUntil = 0;
  let onRoom = (): void => undefined;

  async function startWorkflow(deliveryId: string): Promise<void> {
    try {
      const outcome = await orchestrator.startWebhookDelivery(deliveryId);
      if (outcome === 'closed') await failUndialled(database, deliveryId);
    } catch (error) {
      // Temporal is away: the delivery takes its place in the queue again.
      if (performance.now() > heldUntil)
        logger.warn({ error: errorName(error) }, 'webhook deliveries delayed');
      heldUntil = performance.now() + holdMs;
      // Should this fail too, the sweep returns it later.
      await returnDeliveries(database, [deliveryId]).catch(() => undefined);
    }
  }

  return {
    room: () => (performance.now() < heldUntil ? 0 : startsAtATime - underWay.size),
    slowRoom: () => Math.max(0, slowStartsAtATime - slowUnderWay),
    /** Resolves when half of the starts may be made at once: a round of several costs as much as a round of one. */
    async untilRoom(): Promise<void> {
      if (underWay.size <= startsAtATime / 2) return;
      // oxlint-disable-next-line promise/avoid-new -- resolved by the start that ends
      await new Promise<void>((resolve) => {
        onRoom = resolve;
      });
    },
    start({ id, slow }: Dispatched): void {
      slowUnderWay += Number(slow);
      const started = startWorkflow(id).finally(() => {
        underWay.delete(started);
        slowUnderWay -= Number(slow);
        if (underWay.size <= startsAtATime / 2) onRoom();
      });
      underWay.add(started);
    },
    drain: () => Promise.all(underWay),
  };
}

/**
 * Runs beside the webhook worker: events become deliveries, deliveries whose turn it is become workflows. Any number of
 * relays may run; a killed one leaves nothing that the others, or the next one, do not pick up. `stop` resolves once the
 * rounds and starts under way are over. Sending goes first: while campaigns fall behind their limit on a machine that has
 * nothing to spare, deliveries wait.
 */
export function startWebhookRelay(
  dependencies: RelayDependencies,
  options: RelayOptions = defaultRelayOptions,
): Loop {
  const { database, logger, config, metrics } = dependencies;
  const starter = createStarter(dependencies, options);
  const pace = createPace();
  const busyShare = createProcessorMeter();

  const loops = [
    startPollingLoop({
      name: 'webhook fan-out',
      logger,
      idleMs: options.idleMs,
      work: async () => (await fanOutEvents(database, options.fanOutBatch)).events === options.fanOutBatch,
    }),
    startPollingLoop({
      name: 'webhook dispatch',
      logger,
      idleMs: options.idleMs,
      work: async () => {
        await starter.untilRoom();
        const limit = Math.min(starter.room(), pace.room(performance.now()));
        if (limit <= 0) return false;
        const slowLimit = starter.slowRoom();
        const dispatched = await dispatchDeliveries(database, { ...options.dispatch, limit, slowLimit });
        pace.took(dispatched.length);
        for (const delivery of dispatched) starter.start(delivery);
        return dispatched.some(({ slow }) => !slow);
      },
    }),
    startPollingLoop({
      name: 'webhook pace',
      logger,
      idleMs: options.paceMs,
      work: async () => {
        const isPressed = busyShare() > crammed && (await isSendingBehind(database));
        const yielding = pace.press(isPressed, performance.now());
        if (yielding !== undefined) logger.info({ yielding }, 'webhook deliveries yield to sending');
        return false;
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
      await starter.drain();
    },
  };
}
