/** Dependencies of the commands that create the demo workspace. Close their three connections afterwards. */
import { loadConfig } from '../../src/config.ts';
import type { Dependencies } from '../../src/dependencies.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { createOrchestrator } from '../../src/orchestrator/orchestrator.ts';
import { createCloudProvider } from '../../src/provider/cloud-provider.ts';
import { createDatabase } from '../../src/records/database/database.ts';
import { createSecretBox } from '../../src/secrets.ts';
import type { Servers, StackContext } from '../stack/context.ts';
import type { StackSecrets } from '../stack/host/secrets.ts';

export type DemoDependencies = Pick<
  Dependencies,
  'config' | 'database' | 'orchestrator' | 'provider' | 'secrets' | 'logger' | 'now'
>;

export async function connectDemoDependencies(
  { settings, folder }: StackContext,
  { servers, secrets }: { readonly servers: Servers; readonly secrets: StackSecrets },
): Promise<DemoDependencies> {
  const config = loadConfig({
    ...settings.environment,
    ...secrets,
    DATA_DIR: folder.path,
    DATABASE_URL: servers.databaseUrl,
    TEMPORAL_ADDRESS: servers.temporalAddress,
    PROVIDER_BASE_URL: servers.providerUrl,
    LOG_LEVEL: 'silent',
    LOG_FORMAT: 'json',
  });
  return {
    config,
    database: await createDatabase(config.databaseUrl, 4),
    orchestrator: await createOrchestrator(config),
    provider: createCloudProvider({ baseUrl: config.providerBaseUrl, connections: 4, timeoutMs: 10_000 }),
    secrets: createSecretBox(config.secretsKeys),
    logger: createLogger(config, 'start'),
    now: () => new Date(),
  };
}
