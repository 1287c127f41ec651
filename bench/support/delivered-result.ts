import type { AttemptOutcome } from '../../src/records/webhooks/attempts.ts';

/** The outcome of an attempt that a receiver took at once. */
export const deliveredResult = (id: string): AttemptOutcome => ({
  id,
  state: 'delivered',
  errorCode: null,
  responseStatus: 200,
  responseExcerpt: 'ok',
  durationMs: 12,
});
