import type { Dependencies } from '../dependencies.ts';
import { fanOutEvents } from '../records/events.ts';
import type { DispatchLimits, Dispatched } from '../records/webhook-dispatch.ts';
import {
  dispatchDeliveries,
  failUndialled,
  returnDeliveries,
  sweepDeliveries,
} from '../records/webhook-dispatch.ts';

export interface RelayOptions {
  readonly dispatch: Omit<DispatchLimits, 'limit' | 'slowLimit'>;
  /** Starts under way at a time in this process: what the Temporal server can chew without a queue of its own. */
  readonly startsAtATime: number;
  /** Events of one fan-out statement. */
  readonly fanOutBatch: number;
  /** Between rounds when there is nothing to do: the latency of a lone event. */
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
    slowAfter: 2,
  },
  startsAtATime: 16,
  fanOutBatch: 500,
  idleMs: 100,
  sweepEveryMs: 10_000,
  redispatchSeconds: 120,
};

export interface WebhookRelay {
  /** Resolves once the round under way and its starts are over. */
  readonly stop: () => Promise<void>;
}

type RelayDependencies = Pick<Dependencies, 'database' | 'orchestrator' | 'logger' | 'config'>;

const afterFailureMs = 1000;

/**
 * Runs beside the webhook worker: events become deliveries, deliveries whose turn it is become workflows. Any number of
 * relays may run; a killed one leaves nothing that the others, or the next one, do not pick up.
 */
export function startWebhookRelay(
  dependencies: RelayDependencies,
  options: RelayOptions = defaultRelayOptions,
): WebhookRelay {
  const { database, orchestrator, logger, config } = dependencies;
  const starts = new Set<Promise<void>>();
  // Of the starts, those for endpoints that keep timing out: at most a quarter.
  let slowStarts = 0;
  let stopping = false;
  let wake: () => void = () => undefined;
  let holdStartsUntil = 0;
  let sweepAt = 0;

  const sleep = (ms: number): Promise<void> =>
    // oxlint-disable-next-line promise/avoid-new -- a timer that can be ended early
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  async function start(deliveryId: string): Promise<void> {
    try {
      const outcome = await orchestrator.startWebhookDelivery(deliveryId);
      if (outcome === 'closed') await failUndialled(database, deliveryId);
    } catch (error) {
      // Temporal is away: the delivery takes its place in the queue again.
      holdStartsUntil = performance.now() + afterFailureMs;
      logger.warn({ deliveryId, error: String(error) }, 'webhook delivery delayed');
      await returnDeliveries(database, [deliveryId]).catch(() => undefined);
    }
  }

  function track({ id: deliveryId, slow }: Dispatched): void {
    slowStarts += Number(slow);
    const running = start(deliveryId)
      .catch((error: unknown) => logger.error({ deliveryId, error: String(error) }, 'webhook start failed'))
      .finally(() => {
        starts.delete(running);
        slowStarts -= Number(slow);
        // Not for every single one: a round of several costs as much as a round of one.
        if (starts.size <= options.startsAtATime / 2) wake();
      });
    starts.add(running);
  }

  async function sweep(): Promise<void> {
    if (performance.now() < sweepAt) return;
    sweepAt = performance.now() + options.sweepEveryMs;
    const swept = await sweepDeliveries(database, {
      expiryHours: config.webhookExpiryHours,
      redispatchSeconds: options.redispatchSeconds,
    });
    if (swept.interrupted + swept.expired + swept.returned > 0)
      logger.warn(swept, 'webhook deliveries swept');
  }

  /** True when there may be more to do at once. */
  async function round(): Promise<boolean> {
    await sweep();
    const { events } = await fanOutEvents(database, options.fanOutBatch);
    const room = performance.now() < holdStartsUntil ? 0 : options.startsAtATime - starts.size;
    const slowLimit = Math.max(0, Math.ceil(options.startsAtATime / 4) - slowStarts);
    const dispatched =
      room > 0 ? await dispatchDeliveries(database, { ...options.dispatch, limit: room, slowLimit }) : [];
    for (const delivery of dispatched) track(delivery);
    return events === options.fanOutBatch || dispatched.some(({ slow }) => !slow);
  }

  async function run(): Promise<void> {
    while (!stopping) {
      let idleMs = options.idleMs;
      try {
        // oxlint-disable-next-line no-await-in-loop -- rounds follow each other
        if (await round()) idleMs = 0;
      } catch (error) {
        idleMs = afterFailureMs;
        logger.warn({ error: String(error) }, 'webhook relay round failed');
      }
      // A full house waits for a start to end; a short pause lets several end.
      const waitMs = starts.size >= options.startsAtATime ? options.idleMs : idleMs;
      // oxlint-disable-next-line no-await-in-loop
      if (waitMs > 0 && !stopping) await sleep(waitMs);
    }
    await Promise.all(starts);
  }

  const running = run();
  return {
    stop: () => {
      stopping = true;
      wake();
      return running;
    },
  };
}
