/** The product's own processes: one API and the workers, each given everything by its environment. */
import { allOrNone } from './children/all-or-none.ts';
import type { DemoWorkspace } from '../demo/workspace.ts';
import { answersOk, nodeChild } from './children/node-children.ts';
import type { StackPorts } from './host/ports.ts';
import { originOf } from './host/origin.ts';
import type { StackSecrets } from './host/secrets.ts';
import { workerNames, type Servers, type StackContext } from './context.ts';
import type { Environment } from './host/user-cache.ts';

interface ProgramOptions {
  readonly ports: StackPorts;
  readonly servers: Servers;
  readonly secrets: StackSecrets;
  readonly workspace: DemoWorkspace;
}

/**
 * The memory settings of the image (Dockerfile). V8 lets a heap grow with its limit before it collects, and glibc keeps an
 * arena for each of many threads: without these a worker's peak is half as high again.
 */
const memorySettings = {
  NODE_OPTIONS: '--max-semi-space-size=8 --max-old-space-size=1024',
  MALLOC_ARENA_MAX: '2',
};

/** A drain may take this long: a batch is sent to its end, and a webhook may take its five seconds. */
const drainMs = 30_000;

export async function startPrograms(
  context: StackContext,
  { ports, servers, secrets }: ProgramOptions,
): Promise<{ readonly baseUrl: string }> {
  const { settings, folder, supervisor, progress, log } = context;
  progress.say(
    settings.workers === 1
      ? 'Starting the API and a worker …'
      : `Starting the API and ${settings.workers} workers …`,
  );
  const baseUrl = originOf(settings.host, ports.api);
  const environment: Environment = {
    ...memorySettings,
    ...settings.environment,
    ...secrets,
    DATA_DIR: folder.path,
    DATABASE_URL: servers.databaseUrl,
    DATABASE_OWNER_URL: undefined,
    TEMPORAL_ADDRESS: servers.temporalAddress,
    TEMPORAL_NAMESPACE: settings.temporalNamespace,
    ...(servers.temporalUiUrl !== null && { TEMPORAL_UI_URL: servers.temporalUiUrl }),
    PROVIDER_BASE_URL: servers.providerUrl,
    HOST: settings.host,
    PORT: String(ports.api),
  };
  const output = (name: string) => ({ kind: 'lines', write: log.of(name) }) as const;
  const api = nodeChild({
    name: 'api',
    entry: 'src/server.js',
    environment,
    output: output('api'),
    isReady: () => answersOk(`${baseUrl}/readyz`),
    drainMs,
  });
  const workers = workerNames(settings.workers).map((name, index) => {
    const metricsPort = ports.workerMetrics[index] ?? 0;
    return nodeChild({
      name,
      entry: 'src/worker.js',
      // The name of its sessions in pg_stat_activity.
      environment: { ...environment, METRICS_PORT: String(metricsPort), PGAPPNAME: name },
      output: output(name),
      isReady: () => answersOk(`${originOf(settings.host, metricsPort)}/readyz`),
      drainMs,
    });
  });
  await allOrNone(
    context,
    [api, ...workers].map((spec) => supervisor.start(spec)),
  );
  return { baseUrl };
}
