import { pino } from 'pino';
import type { Dependencies } from '../../src/dependencies.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { testSecrets } from './campaign-factory.ts';

interface Outside extends Pick<Dependencies, 'database'> {
  readonly provider: Partial<Dependencies['provider']>;
  readonly orchestrator?: Partial<Dependencies['orchestrator']>;
  readonly config?: Partial<Dependencies['config']>;
}

/** The minimal dependencies for sending. Without an `orchestrator` no workflow is signalled. */
export function sendingDependencies({
  config,
  orchestrator = { refreshCampaign: async () => true },
  ...outside
}: Outside): Dependencies {
  return {
    ...outside,
    orchestrator,
    config: { outcomeGraceSeconds: 600, providerConnections: 64, providerTimeoutMs: 30_000, ...config },
    secrets: testSecrets,
    logger: pino({ level: 'silent' }),
    metrics: createMetrics('test'),
    now: () => new Date(),
  } as unknown as Dependencies;
}
