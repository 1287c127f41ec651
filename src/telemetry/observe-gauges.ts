/** Gauges read from Postgres at a scrape. Every process reports the same values. */
import { Gauge } from 'prom-client';
import type { Metrics } from './metrics.ts';
import { openStatuses, pauseReasons } from '../domain/campaigns/campaign.ts';
import { webhookHealths } from '../domain/webhooks/delivery.ts';
import type { Database } from '../records/database/database.ts';
import { createGaugeReader, type Figures } from '../records/operations/gauges.ts';
import { impairments } from '../records/operations/impaired-channels.ts';
import { standstillKinds } from '../records/operations/standstill.ts';
import { cacheFor } from '../concurrency/cache-for.ts';
import { within } from '../concurrency/within.ts';

// 5 s: the scrapes of several Prometheus servers share one query.
const keepMs = 5_000;
/** 2 s: if a scrape waited longer for the database, it would time out and lose all other metrics too. */
const patienceMs = 2_000;

export function observeGauges({ registry }: Pick<Metrics, 'registry'>, database: Database): void {
  const readGauges = createGaugeReader();
  const cached = cacheFor(keepMs, () => readGauges(database).catch(() => undefined));
  // Resolves to undefined when the query fails or takes too long.
  const read = () => within(patienceMs, cached());
  const gauge = <L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    fill: (gauge: Gauge<L>, figures: Figures) => void,
  ) =>
    new Gauge<L>({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const figures = await read();
        // Gauges that could not be read are absent: an old value would look like a current one.
        this.reset();
        if (figures !== undefined) fill(this, figures);
      },
    });

  gauge('database_gauges_readable', '1 when the figures from the database could be read', [], (one) =>
    one.set(1),
  );
  gauge(
    'campaigns',
    'Campaigns that have not ended, by status and reason of a pause',
    ['status', 'pause_reason'],
    fillCampaigns,
  );
  gauge(
    'campaigns_stalled',
    'Campaigns that should progress and do not, by cause; absent when no worker has checked for two minutes',
    ['kind'],
    (one, { standstills }) => {
      if (standstills === undefined) return;
      for (const kind of standstillKinds) one.set({ kind }, 0);
      for (const { kind, count } of standstills) one.set({ kind }, count);
    },
  );
  gauge(
    'running_recipients',
    'Recipients of running campaigns that are not sent yet',
    ['state'],
    (one, { sending }) => {
      one.set({ state: 'pending' }, sending.pending);
      one.set({ state: 'claimed' }, sending.claimed);
    },
  );
  gauge(
    'sending_limit_messages_per_second',
    'Rate limit of the channels of running campaigns: as configured, and as reduced by throttling',
    ['kind'],
    (one, { sending }) => {
      one.set({ kind: 'configured' }, sending.limit);
      one.set({ kind: 'allowed' }, sending.allowed);
    },
  );
  gauge(
    'sending_pace_share',
    'Lowest share of its rate that the slow answers of the provider let a channel send, 0 to 1; 1 when none is slow',
    [],
    (one, { sending }) => one.set(sending.pace),
  );
  gauge(
    'channels_impaired',
    'Channels that cannot send at their rate, by kind: blocked, held (circuit open), slow, throttled, or why the provider rejects their messages',
    ['kind'],
    (one, { impairedChannels }) => {
      for (const kind of impairments) one.set({ kind }, 0);
      for (const { kind, count } of impairedChannels) one.set({ kind }, count);
    },
  );
  gauge(
    'callbacks_missing_seconds',
    'Seconds from the last callback of the provider to the latest charge after it; 0 while callbacks arrive',
    [],
    (one, { callbackSilence }) => one.set(callbackSilence),
  );
  gauge('database_read_only', '1 when Postgres takes no writes', [], (one, { databaseState }) =>
    one.set(databaseState.read_only ? 1 : 0),
  );
  gauge(
    'wal_archive_behind_seconds',
    'Age of the last archived WAL segment while archiving fails or falls behind, else 0',
    [],
    (one, { databaseState }) => one.set(databaseState.archive_behind),
  );
  gauge(
    'daily_partitions_ahead',
    'Daily partitions after today, by table',
    ['table'],
    (one, { daysAhead }) => {
      for (const { table, days } of daysAhead) one.set({ table }, days);
    },
  );
  gauge(
    'replication_lag_bytes',
    'WAL that the replication slot furthest behind has not confirmed',
    [],
    (one, { databaseState }) => one.set(databaseState.replication_lag),
  );
  gauge(
    'oldest_transaction_seconds',
    'Age of the oldest open transaction of the database; of other roles only with pg_read_all_stats',
    [],
    (one, { databaseState }) => one.set(databaseState.oldest_transaction),
  );
  gauge(
    'locks_waiting',
    'Statements that wait for a lock of another transaction',
    [],
    (one, { databaseState }) => one.set(databaseState.locks_waiting),
  );
  gauge(
    'clock_difference_seconds',
    "The clock of this process minus Postgres'",
    [],
    (one, { clockDifference }) => one.set(clockDifference),
  );
  gauge(
    'transaction_id_age',
    'Transactions since the oldest one that is not frozen, over all databases of the server',
    [],
    (one, { databaseState }) => one.set(databaseState.transaction_age),
  );
  gauge(
    'webhooks_impaired',
    'Webhooks that are not healthy, by health',
    ['health'],
    (one, { impairedWebhooks }) => {
      for (const health of webhookHealths) if (health !== 'healthy') one.set({ health }, 0);
      for (const { health, count } of impairedWebhooks) one.set({ health }, count);
    },
  );
  gauge('queue_depth', 'Entries that wait, by queue; counted up to a limit', ['queue'], (one, { queues }) => {
    for (const { queue, depth } of queues) one.set({ queue }, depth);
  });
  gauge(
    'queue_oldest_seconds',
    'Age of the oldest entry that waits, by queue',
    ['queue'],
    (one, { queues }) => {
      for (const { queue, oldest } of queues) one.set({ queue }, oldest);
    },
  );
}

/** Sets every status from the start, so that alert rules see 0 instead of no data. */
function fillCampaigns(gauge: Gauge<'status' | 'pause_reason'>, { campaigns }: Figures): void {
  for (const status of openStatuses) if (status !== 'PAUSED') gauge.set({ status, pause_reason: '' }, 0);
  for (const reason of pauseReasons) gauge.set({ status: 'PAUSED', pause_reason: reason }, 0);
  for (const { status, pause_reason: reason, count } of campaigns)
    gauge.set({ status, pause_reason: reason ?? '' }, count);
}
