/** The dependencies of admin commands: database and secrets always, Temporal and the provider only on request. */
import { loadConfig, type Config, type Environment } from '../config.ts';
import { createDatabase, type Database } from '../records/database/database.ts';
import { createSecretBox, type SecretBox } from '../secrets.ts';
import type { syncTemplates } from '../commands/templates/sync-templates.ts';

export interface AdminContext {
  readonly config: Config;
  readonly database: Database;
  readonly secrets: SecretBox;
  readonly now: () => Date;
  /** The folder of the numbered migrations. */
  readonly sqlFolder: string;
  /** Runs `work` with Temporal and the provider, which only some commands use; imported and connected for this call. */
  readonly withProvider: <A>(work: (dependencies: ProviderDependencies) => Promise<A>) => Promise<A>;
}

type ProviderDependencies = Parameters<typeof syncTemplates>[0];

export async function openAdminContext(environment: Environment, sqlFolder: string) {
  const config = loadConfig(environment);
  const database = await createDatabase(config.databaseUrl, 2);
  const secrets = createSecretBox(config.secretsKeys);
  const now = () => new Date();
  const context: AdminContext = {
    config,
    database,
    secrets,
    now,
    sqlFolder,
    withProvider: async (work) => {
      const { createLogger } = await import('../telemetry/logger.ts');
      const { createOrchestrator } = await import('../orchestrator/orchestrator.ts');
      const { createCloudProvider } = await import('../provider/cloud-provider.ts');
      const orchestrator = await createOrchestrator(config);
      const provider = createCloudProvider({
        baseUrl: config.providerBaseUrl,
        connections: 4,
        timeoutMs: config.providerTimeoutMs,
      });
      try {
        const logger = createLogger(config, 'admin');
        return await work({ database, orchestrator, provider, secrets, logger, now });
      } finally {
        await Promise.allSettled([provider.close(), orchestrator.close()]);
      }
    },
  };
  return { context, close: () => database.end() };
}
