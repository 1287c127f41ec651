import type { Metrics } from './metrics.ts';
import type { Outbound } from '../outbound/outbound.ts';

/** Wraps `outbound` and measures every webhook attempt. */
export function measureOutbound(
  { webhookAttemptSeconds }: Pick<Metrics, 'webhookAttemptSeconds'>,
  outbound: Outbound,
): Outbound {
  return {
    ...outbound,
    async postWebhook(request) {
      const outcome = await outbound.postWebhook(request);
      webhookAttemptSeconds.observe(
        { outcome: outcome.errorCode ?? outcome.state },
        outcome.durationMs / 1000,
      );
      return outcome;
    },
  };
}
