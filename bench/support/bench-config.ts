/** The configuration of a process under test. Nothing outside the machine is ever called. */
import { loadConfig, type Config } from '../../src/config.ts';

export const benchSecretsKey = 'the secrets key of the benchmark';

export const benchConfig = (databaseUrl: string, overrides: Readonly<Record<string, string>> = {}): Config =>
  loadConfig({
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    PROVIDER_BASE_URL: 'http://127.0.0.1:1/v23.0',
    PROVIDER_APP_SECRET: 'the app secret of the benchmark',
    PROVIDER_VERIFY_TOKEN: 'the verify token of the benchmark',
    KEY_PEPPER: 'the key pepper of the benchmark',
    SECRETS_KEY: benchSecretsKey,
    LOG_LEVEL: 'silent',
    LOG_FORMAT: 'json',
    ...overrides,
  });
