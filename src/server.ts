/** The API process. */
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createApiServer } from './api/frame/app.ts';
import { metricsEndpoint } from './api/frame/health.ts';
import { routes } from './api/routes.ts';
import { ConfigError, loadConfig } from './config.ts';
import { createDependencies } from './dependencies.ts';
import { findMissingOfApi, reportMissing, type FindMissing } from './process/find-missing.ts';
import { serveHealth } from './process/serve-health.ts';
import { shutDownOnSignal } from './process/shutdown.ts';

// The build puts the dashboard here, next to this file's folder.
const pageFolder = fileURLToPath(new URL('../dashboard', import.meta.url));
/** 29 s: less than the time between SIGTERM and SIGKILL, which is 30 s by default in Kubernetes. */
const deadlineMs = 29_000;
/** 4 s of the deadline are left for closing the connections. */
const closingMs = 4_000;

async function main(): Promise<void> {
  const config = loadConfig(process.env, process.stdout.isTTY);
  const dependencies = await createDependencies(config, 'api');
  const { logger, metrics } = dependencies;
  let stopping = false;
  const findMissing = findMissingOfApi(dependencies);
  const missing: FindMissing = async (explain) => (stopping ? ['stopping'] : findMissing(explain));
  const { host, metricsPort } = config;
  const health =
    metricsPort === undefined ? undefined : await serveHealth({ host, port: metricsPort, metrics, missing });
  const servesMetrics = health === undefined && !config.production;
  const endpoints = servesMetrics ? routes : routes.filter((one) => one !== metricsEndpoint);
  if (health === undefined && config.production)
    logger.warn('METRICS_PORT is not set: in production /metrics is served on that port alone');
  const { server, drain } = createApiServer(dependencies, endpoints, {}, { pageFolder, findMissing });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port: config.port }, resolve);
  });
  const delayMs = config.drainDelaySeconds * 1_000;
  shutDownOnSignal({
    logger,
    deadlineMs,
    steps: [
      {
        name: 'requests',
        run: () => {
          stopping = true;
          return drain(deadlineMs - closingMs - delayMs, delayMs);
        },
      },
      { name: 'health', run: async () => health?.close() },
      { name: 'connections', run: dependencies.close },
    ],
    exit: (code) => process.exit(code),
  });
  // Only uploads need the file storage, so a wrong setting is logged at startup, before the first upload fails.
  dependencies.storage
    .check()
    .catch((error: Error) => logger.error({ reason: error.message }, 'no file storage'));
  const { address, port } = server.address() as AddressInfo;
  logger.info({ address, port, metricsPort: health?.port }, 'listening');
  // The API starts even if something is missing, and returns 503 for requests that need it; /readyz reports the same.
  void reportMissing({ logger, find: missing });
}

try {
  await main();
} catch (error) {
  const reason = error instanceof ConfigError || !(error instanceof Error) ? String(error) : error.message;
  process.stderr.write(`The API did not start: ${reason}\n`);
  process.exit(1);
}
