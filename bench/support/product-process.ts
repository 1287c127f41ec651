/** The API or the worker of the product, as it is deployed, in a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { benchSecretsKey } from './bench-config.ts';
import { cpuSecondsOf } from './process-cpu.ts';
import { stopOnSignal } from './stop-on-signal.ts';

export interface ProductProcess {
  readonly cpuSeconds: () => number;
  readonly stop: () => Promise<void>;
}

export interface ProductServers {
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly providerBaseUrl: string;
}

export function productEnvironment({ databaseUrl, temporalAddress, providerBaseUrl }: ProductServers) {
  return {
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    PROVIDER_BASE_URL: providerBaseUrl,
    PROVIDER_APP_SECRET: 'the app secret of the benchmark',
    PROVIDER_VERIFY_TOKEN: 'the verify token of the benchmark',
    KEY_PEPPER: 'the key pepper of the benchmark',
    SECRETS_KEY: benchSecretsKey,
    RATE_LIMIT_PER_SECOND: '1000000',
    LOG_LEVEL: 'info',
    LOG_FORMAT: 'json',
  };
}

/** Starts the built API or worker. Copies the errors that it logs to stderr. */
export function startProduct(
  program: 'server' | 'worker',
  servers: ProductServers,
  environment: Readonly<Record<string, string>> = {},
): ProductProcess {
  const path = fileURLToPath(new URL(`../../src/${program}.js`, import.meta.url));
  const child = spawn(process.execPath, [path], {
    env: { ...process.env, ...productEnvironment(servers), ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let line = '';
  child.stdout.on('data', (bytes: Buffer) => {
    const lines = (line + bytes.toString()).split('\n');
    line = lines.pop() ?? '';
    for (const logLine of lines)
      if (/"level":"?(?:error|50|fatal|60)/.test(logLine)) process.stderr.write(`${logLine}\n`);
  });
  return {
    cpuSeconds: () => cpuSecondsOf(child.pid ?? 0),
    stop: stopOnSignal(async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    }),
  };
}
