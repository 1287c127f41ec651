import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';
import { providerErrorTable } from './domain/provider-error-table.ts';
import type { MessagingProvider } from './provider/provider.ts';

type SendMetrics = Pick<Metrics, 'providerSendSeconds' | 'providerRefusals'> & {
  readonly logger: Pick<Logger, 'debug'>;
};

const knownCodes = new Set(providerErrorTable.flatMap(({ codes }) => codes));

/** The same provider; what it takes to send, and what it refuses, is measured. Each message is a log line at `debug`. */
export function measureProvider(metrics: SendMetrics, provider: MessagingProvider): MessagingProvider {
  return {
    ...provider,
    async sendMessage(message) {
      const stop = metrics.providerSendSeconds.startTimer();
      const result = await provider.sendMessage(message);
      const seconds = stop({ outcome: result.kind });
      const code = result.kind === 'rejected' ? { code: result.code } : {};
      metrics.logger.debug(
        {
          messageId: message.callbackData,
          outcome: result.kind,
          ...code,
          durationMs: Math.round(seconds * 1000),
        },
        'provider call',
      );
      if (result.kind === 'rejected') {
        metrics.providerRefusals.inc({ code: knownCodes.has(result.code) ? String(result.code) : 'other' });
      }
      return result;
    },
  };
}
