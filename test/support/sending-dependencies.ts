import { pino } from 'pino';
import type { Dependencies } from '../../src/dependencies.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { testSecrets } from './campaign-factory.ts';

interface Outside extends Pick<Dependencies, 'database'> {
  readonly provider: Partial<Dependencies['provider']>;
  readonly orchestrator?: Partial<Dependencies['orchestrator']>;
  readonly config?: Partial<Dependencies['config']>;
}

/** What sending a campaign needs, and nothing more; no workflow is told of anything unless an `orchestrator` is given. */
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
