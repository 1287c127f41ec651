import type { EventEmitter } from 'node:events';
import { createWatermark } from '../../concurrency/watermark.ts';
import type { Dependencies } from '../../dependencies.ts';
import { createId } from '../../records/database/uuid-v7.ts';
import { scheduleDeliveries } from '../../records/webhooks/delivery-scheduler.ts';
import { recentId } from '../../records/webhooks/events.ts';
import { countSchedulers, forgetScheduler } from '../../records/webhooks/schedulers.ts';
import { findWaitingDelivery } from '../../records/webhooks/waiting.ts';
import { createDeliveryStarts } from './start-deliveries.ts';

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
          // Twice this scheduler's share, so that shards are visited often and a stalled scheduler leaves no gap.
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
      // Something waits, so this scheduler pauses only after it has looked at every shard.
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
