import type { SchedulerLimits } from '../../src/records/webhooks/delivery-scheduler.ts';

/** Limits of a single scheduler with default settings and a hundred free start slots. */
export const schedulerLimits: SchedulerLimits = {
  shards: { count: 16, first: 0, most: 16 },
  limit: 100,
  slowLimit: 10,
  perEndpoint: 1000,
  slowPerShard: 16,
  expiryHours: 24,
};
