/** The API process. */
import type { AddressInfo } from 'node:net';
import { createApiServer } from './api/frame/app.ts';
import { routes } from './api/routes.ts';
import { ConfigError, loadConfig } from './config.ts';
import { createDependencies } from './dependencies.ts';
import { findMissing, reportMissing } from './process/find-missing.ts';
import { shutDownOnSignal } from './process/shutdown.ts';

const deadlineMs = 29_000;
// For the connections to the servers.
const closingMs = 4_000;

async function main(): Promise<void> {
  const config = loadConfig(process.env, process.stdout.isTTY);
  const dependencies = await createDependencies(config, 'api');
  const { logger } = dependencies;
  const { server, drain } = createApiServer(dependencies, routes);

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: config.host, port: config.port }, resolve);
  });
  const delayMs = config.drainDelaySeconds * 1_000;
  shutDownOnSignal({
    logger,
    deadlineMs,
    steps: [
      { name: 'requests', run: () => drain(deadlineMs - closingMs - delayMs, delayMs) },
      { name: 'connections', run: dependencies.close },
    ],
    exit: (code) => process.exit(code),
  });
  // It works without, but for uploads: whoever set it up wrongly should hear of it before the first customer does.
  dependencies.storage
    .check()
    .catch((error: Error) => logger.error({ reason: error.message }, 'no file storage'));
  const { address, port } = server.address() as AddressInfo;
  logger.info({ address, port }, 'ready');
  // It answers without them too, 503 where it must; /readyz tells the same.
  void reportMissing({ logger, find: () => findMissing(dependencies) });
}

try {
  await main();
} catch (error) {
  const reason = error instanceof ConfigError || !(error instanceof Error) ? String(error) : error.message;
  process.stderr.write(`The API did not start: ${reason}\n`);
  process.exit(1);
}
