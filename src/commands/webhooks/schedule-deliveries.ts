import type { EventEmitter } from 'node:events';
import { createWatermark } from '../../concurrency/watermark.ts';
import type { Dependencies } from '../../dependencies.ts';
import { createId } from '../../records/database/uuid-v7.ts';
import { scheduleDeliveries } from '../../records/webhooks/delivery-scheduler.ts';
import { recentId } from '../../records/webhooks/events.ts';
import { countSchedulers, forgetScheduler } from '../../records/webhooks/schedulers.ts';
import { findWaitingDelivery } from '../../records/webhooks/waiting.ts';
import { createDeliveryStarts } from './start-deliveries.ts';

/** Under load the watermark of waiting deliveries moves every 500 ms: looking for it costs as much as a round. */
const watermarkMs = 500;

export type SchedulerDependencies = Pick<Dependencies, 'database' | 'logger' | 'config'> & {
  readonly orchestrator: Pick<Dependencies['orchestrator'], 'startWebhookDelivery'>;
};

/** One scheduler of the installation: rounds over its part of the shards, which moves on with every round. */
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
    async round(): Promise<boolean | 'empty'> {
      await starts.untilRoom();
      const room = starts.room();
      if (room.fast === 0) return false;
      const from = await findWatermark();
      if (from === undefined) return 'empty';
      const { shards, deliveries } = await scheduleDeliveries(
        database,
        {
          // Twice its part, so that a shard is visited often and one scheduler that stalls leaves no gap.
          shards: { count, first, most: Math.ceil((2 * count) / schedulers) },
          limit: room.fast,
          slowLimit: room.slow,
          perEndpoint: config.webhookSlotsPerEndpoint,
          slowPerShard: Math.ceil((slots * schedulers) / count / 4),
          expiryHours: config.webhookExpiryHours,
        },
        from,
      );
      first = ((shards.at(-1) ?? first) + 1) % count;
      for (const delivery of deliveries) starts.start(delivery);
      const isBusy = deliveries.some(({ slow }) => !slow);
      if (!isBusy) watermark = undefined;
      return isBusy;
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
