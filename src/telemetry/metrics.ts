/** Metrics of a process at /metrics; each process creates one registry. No label takes values from customers' data. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { cacheFor } from '../concurrency/cache-for.ts';
import { within } from '../concurrency/within.ts';
import { recipientStates, type RecipientState } from '../domain/campaigns/recipient.ts';
import type { SendResult } from '../provider/provider.ts';
import type { Database } from '../records/database/database.ts';
import { databaseErrorCauses } from '../records/database/failure.ts';

export type Metrics = Readonly<ReturnType<typeof createMetrics>>;

const databaseBuckets = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const sendOutcomes: readonly SendResult['kind'][] = ['accepted', 'rejected', 'unreachable', 'unknown'];

const networkBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** 50 ms: with the library's default of 10 ms, sampling the event loop took 0.3 % of a core in an idle process. */
const eventLoopSampleMs = 50;

/** Includes the default metrics: memory, CPU time and event-loop delay. */
export function createMetrics(service: string) {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopSampleMs });
  const registers = [registry];
  const metrics = {
    registry,
    /** The Prometheus text format, collected at most once a second. */
    text: cacheFor(1_000, () => registry.metrics()),
    httpRequestSeconds: new Histogram({
      name: 'http_request_seconds',
      help: 'Time from the request head to the end of the answer',
      labelNames: ['method', 'route', 'status'],
      buckets: databaseBuckets,
      registers,
    }),
    claimSeconds: new Histogram({
      name: 'campaign_claim_seconds',
      help: 'Time to claim a batch of recipients, by result',
      labelNames: ['outcome'],
      buckets: databaseBuckets,
      registers,
    }),
    recordSeconds: new Histogram({
      name: 'campaign_record_seconds',
      help: 'Time to record a batch of outcomes',
      buckets: databaseBuckets,
      registers,
    }),
    recipientChanges: new Counter({
      name: 'recipient_changes_total',
      help: 'Recipients that came to a state: by preparation, sending, cancelling or a status of the provider',
      labelNames: ['state'],
      registers,
    }),
    unlistedRefusals: new Counter({
      name: 'unlisted_refusals_total',
      help: 'Messages that the provider refused, at once or by a status, with a code that the table of codes does not list',
      labelNames: ['code'],
      registers,
    }),
    walletPauses: new Counter({
      name: 'wallet_pauses_total',
      help: 'Campaigns paused because the wallet could not cover the next send',
      registers,
    }),
    providerSendSeconds: new Histogram({
      name: 'provider_send_seconds',
      help: 'Time of handing one message to the provider, by outcome',
      labelNames: ['outcome'],
      buckets: networkBuckets,
      registers,
    }),
    providerRefusals: new Counter({
      name: 'provider_refusals_total',
      help: 'Messages the provider refused in its answer, by its error code',
      labelNames: ['code'],
      registers,
    }),
    providerCallbacks: new Counter({
      name: 'provider_callbacks_total',
      help: 'Callbacks of the provider that were stored, or refused because no app secret fits their signature',
      labelNames: ['outcome'],
      registers,
    }),
    databaseErrors: new Counter({
      name: 'database_errors_total',
      help: 'Statements that Postgres refused for a reason of its own: no disk space, read-only, no connection left',
      labelNames: ['cause'],
      registers,
    }),
    taskQueueServed: new Gauge({
      name: 'task_queue_served',
      help: '1 for each task queue that this worker serves; no series while it drains or its version is not current',
      labelNames: ['queue'],
      registers,
    }),
    settingsInfo: new Gauge({
      name: 'settings_info',
      help: '1; the fingerprint is the same for processes with the same settings, secrets aside',
      labelNames: ['fingerprint'],
      registers,
    }),
    webhookAttemptSeconds: new Histogram({
      name: 'webhook_attempt_seconds',
      help: 'Time of one webhook request, by outcome',
      labelNames: ['outcome'],
      buckets: networkBuckets,
      registers,
    }),
    storageFailures: new Counter({
      name: 'file_storage_failures_total',
      help: 'Calls that the file storage refused: no disk space, no access, no answer',
      registers,
    }),
    webhooksDisabled: new Counter({
      name: 'webhooks_disabled_total',
      help: 'Webhooks that were disabled because every delivery to them failed for days',
      registers,
    }),
    webhooksSwept: new Counter({
      name: 'webhook_deliveries_swept_total',
      help: 'Deliveries that expired, were refused before a request, lost their process, or were handed out again',
      labelNames: ['outcome'],
      registers,
    }),
  };
  beginAtZero(metrics);
  return metrics;
}

/** Creates the counters at 0, because `rate` would miss the event that creates a series. */
function beginAtZero({
  recipientChanges,
  providerSendSeconds,
  providerCallbacks,
  databaseErrors,
  webhooksSwept,
}: Metrics): void {
  for (const state of recipientStates) recipientChanges.inc({ state: state.toLowerCase() }, 0);
  for (const outcome of sendOutcomes) providerSendSeconds.zero({ outcome });
  for (const outcome of ['stored', 'refused']) providerCallbacks.inc({ outcome }, 0);
  for (const cause of databaseErrorCauses) databaseErrors.inc({ cause }, 0);
  const sweptOutcomes = [
    'interrupted',
    'expired',
    'returned',
    'endpoint_inactive',
    'disabled',
    'payload_too_large',
    'erased',
  ];
  for (const outcome of sweptOutcomes) webhooksSwept.inc({ outcome }, 0);
}

/** Counts recipients by their new state. */
export function countRecipients(
  { recipientChanges }: Pick<Metrics, 'recipientChanges'>,
  states: Iterable<RecipientState>,
): void {
  const counts = new Map<RecipientState, number>();
  for (const state of states) counts.set(state, (counts.get(state) ?? 0) + 1);
  for (const [state, count] of counts) recipientChanges.inc({ state: state.toLowerCase() }, count);
}

/** Reports the connections of the pool by state, and how many queries wait for one. */
export function observeDatabasePool({ registry }: Metrics, database: Database): void {
  new Gauge({
    name: 'database_connections',
    help: 'Connections of the database pool, by state',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { acquiredConnections, idleConnections, waitingClients } = database.state();
      this.set({ state: 'acquired' }, acquiredConnections);
      this.set({ state: 'idle' }, idleConnections);
      this.set({ state: 'waiting' }, waitingClients);
    },
  });
}

/** 10 min: shows a renewed certificate soon, and a handshake costs little. */
const certificateKeptMs = 10 * 60_000;
/** 2 s: the longest that a scrape waits for the handshake. */
const certificatePatienceMs = 2_000;

/** The gauge is absent while the certificate cannot be read. */
export function observeCertificate({ registry }: Metrics, readExpiry: () => Promise<Date>): void {
  const cached = cacheFor(certificateKeptMs, () => readExpiry().catch(() => undefined));
  const gauge = new Gauge({
    name: 'public_certificate_expiry_seconds',
    help: 'Time until the certificate of PUBLIC_URL expires',
    registers: [registry],
    async collect() {
      const expiry = await within(certificatePatienceMs, cached());
      if (expiry === undefined) gauge.remove();
      else gauge.set((expiry.getTime() - Date.now()) / 1_000);
    },
  });
}
