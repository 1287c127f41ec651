/** The composition root: every process builds one `Dependencies` here and passes it down as the first argument. */
import { createCallbackInbox, type CallbackInbox } from './records/callbacks/provider-callbacks.ts';
import { createProgressFeed, type ProgressFeed } from './records/campaigns/progress-feed.ts';
import { guardOrchestrator } from './commands/operations/installation.ts';
import { settingsFingerprint, type Config } from './config.ts';
import { createLogger, type Logger } from './telemetry/logger.ts';
import { createMetrics, observeCertificate, observeDatabasePool, type Metrics } from './telemetry/metrics.ts';
import { measureOutbound, measureProvider, traceOutbound, traceProvider } from './telemetry/measure-calls.ts';
import { observeGauges } from './telemetry/observe-gauges.ts';
import { createOrchestrator, type Orchestrator } from './orchestrator/orchestrator.ts';
import { readCertificateExpiry } from './outbound/certificate-expiry.ts';
import { createOutbound, type Outbound } from './outbound/outbound.ts';
import { createCloudProvider } from './provider/cloud-provider.ts';
import type { MessagingProvider } from './provider/provider.ts';
import { createStorage } from './storage/create-storage.ts';
import { countFailures, type FileStorage } from './storage/file-storage.ts';
import { createDatabase, type Database } from './records/database/database.ts';
import { databaseErrorCause } from './records/database/failure.ts';
import { closeLoadConnections } from './records/database/load-connection.ts';
import { createRecipientExport, type RecipientExport } from './records/campaigns/recipient-export.ts';
import { createSecretBox, type SecretBox } from './secrets.ts';
import { createTracing, type Tracing } from './telemetry/tracing.ts';

export interface Dependencies {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly database: Database;
  /** A few separate connections for reads that may take Postgres seconds, one per workspace at a time. */
  readonly searchDatabase: Database;
  /** One connection for the readiness check, so that the process stays ready while requests use all others. */
  readonly probeDatabase: Database;
  readonly orchestrator: Orchestrator;
  readonly provider: MessagingProvider;
  readonly outbound: Outbound;
  readonly storage: FileStorage;
  readonly secrets: SecretBox;
  readonly callbackInbox: CallbackInbox;
  readonly progressFeed: ProgressFeed;
  readonly recipientExport: RecipientExport;
  readonly now: () => Date;
}

/** Dependencies that hold connections: close them when the process ends. */
export interface OpenDependencies extends Dependencies {
  readonly close: () => Promise<void>;
}

// 15 s: a client of the API waits for each statement; statements of workers may take longer.
const apiAnswerTimeoutMs = 15_000;
/** 5 s for a read of `searchDatabase`. */
const searchTimeoutMs = 5_000;
const probeTimeoutMs = 3_000;

/** Postgres, Temporal and the provider need not be reachable yet. `service` names the process in logs and metrics. */
export async function createDependencies(config: Config, service: string): Promise<OpenDependencies> {
  const metrics = createMetrics(service);
  metrics.settingsInfo.set({ fingerprint: settingsFingerprint(config) }, 1);
  const logger = createLogger(config, service);
  for (const warning of config.warnings) logger.warn(warning);
  const tracing = await createTracing(config, service);
  const onError = (error: Parameters<typeof databaseErrorCause>[0]): void => {
    const cause = databaseErrorCause(error);
    if (cause !== undefined) metrics.databaseErrors.inc({ cause });
  };
  const { databaseUrl, databasePoolSize } = config;
  const database = await createDatabase(databaseUrl, databasePoolSize, {
    ...(service === 'api' && { answerTimeoutMs: apiAnswerTimeoutMs }),
    onError,
  });
  const searchDatabase = await createDatabase(databaseUrl, Math.max(1, Math.floor(databasePoolSize / 3)), {
    answerTimeoutMs: searchTimeoutMs,
    permitWaitMs: apiAnswerTimeoutMs,
    perWorkspace: 1,
    onError,
  });
  const probeDatabase = await createDatabase(databaseUrl, 1, { answerTimeoutMs: probeTimeoutMs, onError });
  observeDatabasePool(metrics, database);
  const recipientExport = createRecipientExport(config.databaseUrl);
  observeGauges(metrics, database);
  const { publicUrl } = config;
  if (publicUrl?.startsWith('https:') === true)
    observeCertificate(metrics, () => readCertificateExpiry(publicUrl));
  const orchestrator = guardOrchestrator(await createOrchestrator(config), database);
  const cloud = createCloudProvider({
    baseUrl: config.providerBaseUrl,
    connections: config.providerConnections,
    timeoutMs: config.providerTimeoutMs,
  });
  const provider = measureProvider({ ...metrics, logger }, traceProvider(tracing, cloud));
  return {
    config,
    logger,
    metrics,
    tracing,
    database,
    searchDatabase,
    probeDatabase,
    orchestrator,
    provider,
    outbound: measureOutbound(metrics, traceOutbound(tracing, createOutbound(config))),
    storage: countFailures(await createStorage(config), () => metrics.storageFailures.inc()),
    secrets: createSecretBox(config.secretsKeys),
    callbackInbox: createCallbackInbox(database),
    recipientExport,
    progressFeed: createProgressFeed(database),
    now: () => new Date(),
    close: async () => {
      await Promise.allSettled([
        provider.close(),
        orchestrator.close(),
        recipientExport.end(),
        database.end(),
        searchDatabase.end(),
        probeDatabase.end(),
        closeLoadConnections(config.databaseUrl),
      ]);
      await tracing.close();
    },
  };
}
