import type { SchedulerLimits } from '../../src/records/webhooks/delivery-scheduler.ts';

/** The limits of one scheduler that is alone, with the default settings, and has a hundred starts free. */
export const schedulerLimits: SchedulerLimits = {
  shards: { count: 16, first: 0, most: 16 },
  limit: 100,
  slowLimit: 10,
  perEndpoint: 1000,
  slowPerShard: 16,
  expiryHours: 24,
};
