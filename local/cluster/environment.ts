/** The environment of every process of a deployment, as docker-compose.yml sets it, without containers. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

export interface Deployment {
  readonly path: string | undefined;
  readonly host: string;
  /** Uploads are kept in it. */
  readonly folder: string;
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly temporalNamespace: string;
  readonly simulatorPort: number;
}

/** Memory limits of our processes, as in the Dockerfile. */
export const programMemory = {
  NODE_OPTIONS: '--max-semi-space-size=8 --max-old-space-size=1024',
  MALLOC_ARENA_MAX: '2',
} as const;

const providerVersion = 'v26.0';

/** Generates new secrets at every call. */
export function productionEnvironment(deployment: Deployment) {
  return {
    PATH: deployment.path,
    NODE_ENV: 'production',
    HOST: deployment.host,
    DATA_DIR: join(deployment.folder, 'files'),
    DATABASE_URL: deployment.databaseUrl,
    TEMPORAL_ADDRESS: deployment.temporalAddress,
    TEMPORAL_NAMESPACE: deployment.temporalNamespace,
    PROVIDER_BASE_URL: `http://${deployment.host}:${deployment.simulatorPort}/${providerVersion}`,
    PROVIDER_APP_SECRET: secret(),
    PROVIDER_VERIFY_TOKEN: secret(),
    KEY_PEPPER: secret(),
    SECRETS_KEY: secret(),
    OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
    OUTBOUND_ALLOW_PRIVATE: 'yes',
    ALLOW_EXAMPLE_PRICES: 'yes',
    LOG_FORMAT: 'json',
    ...programMemory,
  };
}

function secret(): string {
  return randomBytes(32).toString('hex');
}
