/** The dependencies of admin commands: database and secrets always, Temporal and the provider only on request. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { syncTemplates } from '../commands/templates/sync-templates.ts';
import { type Config, type Environment, loadConfig } from '../config.ts';
import { createDatabase, type Database } from '../records/database/database.ts';
import { createSecretBox, type SecretBox } from '../secrets.ts';

/*
 * The environment of an admin command: the caller's variables, completed from a development stack that runs on `DATA_DIR`.
 * Variables that the command does not use get a filler value, so that operators need not set them.
 */

/** A setting that a command needs besides the database's address. */
export type Need = 'pepper' | 'secrets' | 'provider' | 'temporal';

const variables: Readonly<Record<Need, readonly string[]>> = {
  pepper: ['KEY_PEPPER'],
  secrets: ['SECRETS_KEY'],
  provider: ['PROVIDER_BASE_URL'],
  temporal: ['TEMPORAL_ADDRESS'],
};

/** The value of a secret that the command does not need and the caller did not give. */
export const unusedSecret = 'not used by this command';

const unused: Environment = {
  KEY_PEPPER: unusedSecret,
  SECRETS_KEY: unusedSecret,
  PROVIDER_BASE_URL: 'http://not-used.invalid',
  PROVIDER_APP_SECRET: unusedSecret,
  PROVIDER_VERIFY_TOKEN: unusedSecret,
  TEMPORAL_ADDRESS: 'not-used.invalid:7233',
};

/** Throws when neither `DATABASE_URL` is set nor a stack runs on `DATA_DIR`. */
export function adminEnvironment(environment: Environment, needs: readonly Need[]): Environment {
  const dataDir = environment['DATA_DIR'] || '.data';
  const stack = readObject(join(dataDir, 'dev.json'));
  const databaseUrl = environment['DATABASE_URL'] || stack['databaseUrl'];
  if (databaseUrl === undefined) {
    throw new Error(`DATABASE_URL is not set and no stack is running on the data folder ${dataDir}`);
  }
  const known: Environment = {
    ...readObject(join(dataDir, 'secrets.json')),
    ...present({
      PROVIDER_BASE_URL: stack['providerUrl'],
      PUBLIC_URL: stack['baseUrl'],
      TEMPORAL_ADDRESS: stack['temporalAddress'],
      TEMPORAL_NAMESPACE: stack['temporalNamespace'],
    }),
    ...present(environment),
  };
  const needed = new Set(needs.flatMap((need) => variables[need]));
  const fillers = Object.entries(unused).filter(([name]) => !needed.has(name));
  return {
    ...Object.fromEntries(fillers),
    ...known,
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    // Logging is off, because standard output is for the command's result alone.
    LOG_LEVEL: 'silent',
    LOG_FORMAT: 'json',
  };
}

function present(environment: Environment): Environment {
  return Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
}

/** The strings in a JSON object; empty if the file does not exist. */
function readObject(path: string): Environment {
  try {
    const content: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof content !== 'object' || content === null) return {};
    return Object.fromEntries(Object.entries(content).filter(([, value]) => typeof value === 'string'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

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
