import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';
import { providerErrorTable } from '../domain/sending/provider-error.ts';
import type { MessagingProvider, SendResult } from '../provider/provider.ts';

type SendMetrics = Pick<Metrics, 'providerSendSeconds' | 'providerRefusals'> & {
  readonly logger: Pick<Logger, 'debug'>;
};

const knownCodes = new Set(providerErrorTable.flatMap(({ codes }) => codes));

/** Wraps the provider and measures duration and refusals of sends. Each message is a log line at `debug`. */
export function measureProvider(metrics: SendMetrics, provider: MessagingProvider): MessagingProvider {
  const times = new Map<SendResult['kind'], { observe: (seconds: number) => void }>();
  const timeOf = (outcome: SendResult['kind']) => {
    const known = times.get(outcome) ?? metrics.providerSendSeconds.labels({ outcome });
    times.set(outcome, known);
    return known;
  };
  const note = (
    result: SendResult,
    { messageId, ms }: { readonly messageId: string; readonly ms: number },
  ): void => {
    // The provider was not asked. Counted as unreachable, an overloaded or stopping worker would ring the alert about the provider.
    const isHeldBack = result.kind === 'unreachable' && result.cause === 'held back';
    if (!isHeldBack) timeOf(result.kind).observe(ms / 1000);
    const refusal = result.kind === 'rejected' ? { code: result.code } : undefined;
    metrics.logger.debug(
      { messageId, outcome: result.kind, ...refusal, durationMs: Math.round(ms) },
      'provider call',
    );
    if (refusal === undefined) return;
    metrics.providerRefusals.inc({ code: knownCodes.has(refusal.code) ? String(refusal.code) : 'other' });
  };
  return {
    ...provider,
    sendMessage(message) {
      const startedAt = performance.now();
      return provider.sendMessage(message).then((result) => {
        note(result, { messageId: message.callbackData, ms: performance.now() - startedAt });
        return result;
      });
    },
  };
}
