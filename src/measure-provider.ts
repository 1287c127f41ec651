import type { Metrics } from './metrics.ts';
import { providerErrorTable } from './domain/provider-error-table.ts';
import type { MessagingProvider } from './provider/provider.ts';

type SendMetrics = Pick<Metrics, 'providerSendSeconds' | 'providerRefusals'>;

const knownCodes = new Set(providerErrorTable.flatMap(({ codes }) => codes));

/** The same provider; what it takes to send, and what it refuses, is measured. */
export function measureProvider(metrics: SendMetrics, provider: MessagingProvider): MessagingProvider {
  return {
    ...provider,
    async sendMessage(message) {
      const stop = metrics.providerSendSeconds.startTimer();
      const result = await provider.sendMessage(message);
      stop({ outcome: result.kind });
      if (result.kind === 'rejected') {
        metrics.providerRefusals.inc({ code: knownCodes.has(result.code) ? String(result.code) : 'other' });
      }
      return result;
    },
  };
}
