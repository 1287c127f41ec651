/** The worker process: Temporal workers and the loops next to them. Any number of these processes share the work. */
import { EventEmitter } from 'node:events';
import {
  DefaultLogger,
  makeTelemetryFilterString,
  type NativeConnection,
  Runtime,
  Worker,
  type LogLevel,
} from '@temporalio/worker';
import { createCampaignActivities } from './activities/campaign.ts';
import { createComparisonActivities } from './activities/compare-prices.ts';
import { createWebhookActivities } from './activities/deliver-webhook.ts';
import { createImportActivities } from './activities/import-contacts.ts';
import { createRetentionActivities } from './activities/retention.ts';
import { createTemplateActivities } from './activities/sync-templates.ts';
import { guardOrchestrator } from './commands/operations/installation.ts';
import { cacheFor } from './concurrency/cache-for.ts';
import { ConfigError, loadConfig, type TaskQueue } from './config.ts';
import { createDependencies, type OpenDependencies } from './dependencies.ts';
import { findMissingOfWorker, reportMissing } from './process/find-missing.ts';
import type { Logger } from './telemetry/logger.ts';
import { createWorkerOrchestrator } from './orchestrator/orchestrator.ts';
import { shutDownOnSignal } from './process/shutdown.ts';
import { webhookWorkerOptions } from './process/webhook-worker.ts';
import {
  campaignWorkerOptions,
  connectToTemporal,
  findUnserved,
  maintenanceWorkerOptions,
  versionOptions,
  workflowSource,
} from './process/worker-options.ts';
import { startLoops, type WorkerDependencies } from './process/worker-loops.ts';
import { serveHealth, type HealthServer } from './process/serve-health.ts';
import { prepareSdkMetrics, watchFailures, type SdkMetrics } from './process/worker-sdk-metrics.ts';
import { causeOptions } from './process/worker-cause.ts';
import { taskQueues } from './workflows/contract.ts';

/** 29 s: less than the time between SIGTERM and SIGKILL, which is 30 s by default in Kubernetes. */
const shutdownDeadlineMs = 29_000;

// Not logged: a webhook receiver that hangs keeps its workflow task for five seconds, which would log a line per delivery.
const coreLogFilter = [
  makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }),
  'temporalio_sdk_core::worker::workflow::managed_run=ERROR',
].join(',');

function installRuntime(logger: Logger, metrics: SdkMetrics | undefined): void {
  const forward = (level: LogLevel, message: string, meta?: Record<string, unknown>) => {
    if (level === 'ERROR') logger.error(meta ?? {}, message);
    else if (level === 'WARN') logger.warn(meta ?? {}, message);
    else logger.debug(meta ?? {}, message);
  };
  Runtime.install({
    // The SDK must not handle signals: this process shuts down in order, see below.
    shutdownSignals: [],
    telemetryOptions: {
      // Written to our own log as one JSON line each, like everything else.
      logging: { forward: {}, filter: coreLogFilter },
      ...(metrics !== undefined && { metrics: metrics.exporter }),
    },
    logger: new DefaultLogger('INFO', ({ level, message, meta }) => forward(level, message, meta)),
  });
}

function sharedOptions({ tracing }: OpenDependencies) {
  return { ...workflowSource(), ...causeOptions(tracing) };
}

async function createWorkers(
  dependencies: WorkerDependencies,
  connection: NativeConnection,
  draining: () => boolean,
): Promise<readonly Worker[]> {
  const shared = {
    connection,
    namespace: dependencies.config.temporalNamespace,
    ...sharedOptions(dependencies),
  };
  const pinned = versionOptions(dependencies.config, 'PINNED');
  const create: Readonly<Record<TaskQueue, () => Promise<Worker>>> = {
    campaigns: () =>
      Worker.create({
        ...shared,
        ...campaignWorkerOptions,
        ...versionOptions(dependencies.config, 'AUTO_UPGRADE'),
        taskQueue: taskQueues.campaigns,
        activities: createCampaignActivities(dependencies, { draining }),
      }),
    webhooks: () =>
      Worker.create({
        ...shared,
        ...webhookWorkerOptions(dependencies.config),
        ...pinned,
        activities: createWebhookActivities(dependencies, dependencies.attempts),
      }),
    maintenance: () =>
      Worker.create({
        ...shared,
        ...maintenanceWorkerOptions,
        ...pinned,
        taskQueue: taskQueues.maintenance,
        activities: {
          ...createTemplateActivities(dependencies),
          ...createRetentionActivities(dependencies),
          ...createComparisonActivities(dependencies),
          ...createImportActivities(dependencies, { draining }),
        },
      }),
  };
  return Promise.all(dependencies.config.taskQueues.map((queue) => create[queue]()));
}

/** Served from the start, so that a probe does not restart a worker that waits for Temporal. */
async function serveOwnHealth(
  { config, metrics, logger }: OpenDependencies,
  moreMetrics: () => Promise<string>,
  missing: () => Promise<readonly string[]>,
): Promise<HealthServer | undefined> {
  if (config.metricsPort === undefined) return undefined;
  const health = await serveHealth({
    host: config.host,
    port: config.metricsPort,
    metrics,
    moreMetrics,
    missing,
  });
  logger.info({ port: health.port }, 'health served');
  return health;
}

async function main(): Promise<void> {
  const config = loadConfig(process.env, process.stdout.isTTY);
  const base = await createDependencies(config, 'worker');
  const { logger } = base;
  const sdkMetrics = config.metricsPort === undefined ? undefined : await prepareSdkMetrics();
  installRuntime(logger, sdkMetrics);
  let workers: readonly Worker[] = [];
  let connection: NativeConnection | undefined;
  const findFailing = watchFailures(async () => sdkMetrics?.read() ?? '');
  const findMissing = findMissingOfWorker(base);
  const findMissingHere = async (): Promise<readonly string[]> => {
    const found = await Promise.all([findMissing(), findFailing(), findUnserved(connection, config)]);
    const polls = workers.length > 0 && workers.every((worker) => worker.getState() === 'RUNNING');
    return [...found.flat(), ...(polls ? [] : ['task queues'])];
  };
  let serving = false;
  /** A worker of a version that is not current polls its queues and gets no work. */
  const updateServed = async (): Promise<void> => {
    const unserved = await findUnserved(connection, config);
    base.metrics.taskQueueServed.reset();
    if (!serving || unserved.length > 0) return;
    for (const queue of config.taskQueues) base.metrics.taskQueueServed.set({ queue }, 1);
  };
  const refreshServed = cacheFor(1_000, updateServed);
  // A scrape does not wait for Temporal; it shows what the previous scrape found.
  const moreMetrics = async () => {
    void refreshServed();
    return (await sdkMetrics?.read()) ?? '';
  };
  const health = await serveOwnHealth(base, moreMetrics, findMissingHere);
  const reported = reportMissing({ logger, find: findMissing });
  connection = await connectToTemporal(config, logger);
  // Before anything is sent: the database must belong to this namespace, and the settings must fit it.
  await reported;
  const ofWorker = createWorkerOrchestrator(connection, config.temporalNamespace);
  const dependencies = {
    ...base,
    orchestrator: guardOrchestrator(ofWorker, base.database),
    attempts: new EventEmitter(),
  };

  let draining = false;
  workers = await createWorkers(dependencies, connection, () => draining);
  const loops = startLoops(dependencies);
  const running = Promise.all(workers.map((worker) => worker.run()));
  serving = true;
  void updateServed();

  shutDownOnSignal({
    logger,
    deadlineMs: shutdownDeadlineMs,
    exit: (code) => process.exit(code),
    steps: [
      {
        name: 'drain',
        run: async () => {
          draining = true;
          serving = false;
          base.metrics.taskQueueServed.reset();
          for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
          await Promise.all([running, ...loops.map((loop) => loop.stop())]);
        },
      },
      { name: 'health', run: async () => health?.close() },
      { name: 'connections', run: () => base.close().then(() => connection.close()) },
    ],
  });
  base.storage.check().catch((error: Error) => logger.error({ reason: error.message }, 'no file storage'));
  // A worker whose version is not current may wait for a long time.
  void reportMissing({ logger, find: findMissingHere }).then(() =>
    logger.info({ metricsPort: health?.port }, 'worker ready'),
  );
  await running;
}

try {
  await main();
} catch (error) {
  // Without a configuration there is no logger. The supervisor or the container runtime restarts the process.
  const message = error instanceof ConfigError ? error.message : `The worker ended: ${String(error)}`;
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
