import { readFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { get } from 'node:http';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { observeGauges } from '../../src/telemetry/observe-gauges.ts';
import {
  createMetrics,
  countRecipients,
  observeCertificate,
  observeDatabasePool,
} from '../../src/telemetry/metrics.ts';
import { measureOutbound, measureProvider } from '../../src/telemetry/measure-calls.ts';
import type { MessagingProvider, SendResult } from '../../src/provider/provider.ts';
import type { Outbound } from '../../src/outbound/outbound.ts';
import { nothing } from '../../src/records/database/row.ts';
import { createDatabase } from '../../src/records/database/database.ts';
import { serveHealth } from '../../src/process/serve-health.ts';
import { prepareSdkMetrics, type SdkMetrics } from '../../src/process/worker-sdk-metrics.ts';
import { taskQueues } from '../../src/workflows/contract.ts';
import { seedCampaign } from '../support/campaign-factory.ts';
import { until } from '../support/campaign-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { bundleWorkflows, startTemporal } from '../support/temporal.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** The names of all series in Prometheus' text format, those of histograms with their suffixes. */
function seriesNames(text: string): ReadonlySet<string> {
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => ({
    name,
    type,
  }));
  return new Set(
    types.flatMap(({ name, type }) =>
      type === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => name + suffix) : [name],
    ),
  );
}

function valueOf(text: string, series: string): number | undefined {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

/** Names in a PromQL expression that are neither functions nor labels. */
function metricsOf(expression: string): readonly string[] {
  const bare = expression
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll(/\[[^\]]*\]| offset \w+/g, '')
    .replaceAll(/\b(by|on)\s*\([^)]*\)/g, '');
  const words = bare.match(/[a-z_][a-z0-9_]*\b(?!\s*\()/gi) ?? [];
  return words.filter((word) => !['and', 'or', 'unless', 'up'].includes(word));
}

describe('what dashboard and alert rules ask for', () => {
  let names: ReadonlySet<string>;
  let metricsText: string;

  beforeAll(async () => {
    const metrics = createMetrics('worker');
    metrics.settingsInfo.set({ fingerprint: 'c0ffee' }, 1);
    observeDatabasePool(metrics, database.pool);
    observeGauges(metrics, database.pool);
    observeCertificate(metrics, async () => new Date());
    const sdk = await prepareSdkMetrics();
    Runtime.install({
      logger: new DefaultLogger('ERROR'),
      shutdownSignals: [],
      telemetryOptions: { metrics: sdk.exporter },
    });
    const sdkText = await runOneWorkflow(sdk);
    metricsText = `${await metrics.registry.metrics()}\n${sdkText}`;
    names = seriesNames(metricsText);
  });

  /** Runs a workflow with a regular activity on a real server, so that every metric of the SDK has a value. */
  async function runOneWorkflow(sdk: SdkMetrics): Promise<string> {
    const temporal = await startTemporal();
    try {
      const worker = await Worker.create({
        connection: temporal.nativeConnection,
        namespace: temporal.namespace ?? 'default',
        taskQueue: taskQueues.maintenance,
        workflowBundle: await bundleWorkflows(),
        activities: { syncTemplates: async () => ({}) },
      });
      return await worker.runUntil(async () => {
        await temporal.client.workflow.execute('templateSync', {
          args: [randomUUID()],
          workflowId: randomUUID(),
          taskQueue: taskQueues.maintenance,
        });
        // No worker knows this workflow type, so its tasks fail.
        const unknown = await temporal.client.workflow.start('unknown', {
          workflowId: randomUUID(),
          taskQueue: taskQueues.maintenance,
        });
        const failed = /^temporal_workflow_task_execution_failed_total\{.*failure_reason="\w+"/m;
        await until(async () => failed.test(await sdk.read()));
        await unknown.terminate();
        return sdk.read();
      });
    } finally {
      await temporal.teardown();
    }
  }

  it('has no label whose values customers could add to', () => {
    const labels = [...metricsText.matchAll(/[{,]([a-z_]+)="/g)].map(([, name = '']) => name);
    // Words of the code, of HTTP, of the provider's table of errors, and of Temporal.
    const closed = `
      service state status pause_reason outcome code kind queue table health le quantile
      method route space type version major minor patch namespace task_queue
      workflow_type activity_type operation status_code cause eager poller_type worker_type failure_reason service_name
      failure_type resource_type cause queue fingerprint
    `
      .trim()
      .split(/\s+/);
    expect([...new Set(labels)].filter((name) => !closed.includes(name))).toEqual([]);
  });

  it('is reported by a process, for every panel of the dashboard', async () => {
    const dashboard = JSON.parse(await readFile('ops/dashboard.json', 'utf8')) as {
      readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
    };
    const asked = dashboard.panels.flatMap(({ targets = [] }) =>
      targets.flatMap(({ expr }) => metricsOf(expr)),
    );
    expect(asked.length).toBeGreaterThan(30);
    expect([...new Set(asked)].filter((name) => !names.has(name))).toEqual([]);
  });

  it('is reported by a process, for every alert rule', async () => {
    const rules = await readFile('ops/alerts.yml', 'utf8');
    const expressions = [...rules.matchAll(/^ {8}expr: (?:>-\n)?((?:.|\n {10})*)/gm)].map(
      ([, text = '']) => text,
    );
    expect(expressions).toHaveLength(rules.match(/- alert:/g)?.length ?? 0);
    const asked = expressions.flatMap(metricsOf);
    expect(asked.length).toBeGreaterThanOrEqual(expressions.length);
    expect([...new Set(asked)].filter((name) => !names.has(name))).toEqual([]);
  });

  it('has a value for every queue by which the chart scales', async () => {
    const values = await readFile('ops/helm/values.yaml', 'utf8');
    const queues = [...values.matchAll(/queues: \[(.+?)\]/g)].flatMap(([, list = '']) => list.split(', '));
    expect(queues.length).toBeGreaterThan(3);
    expect(queues.filter((queue) => !metricsText.includes(`queue_oldest_seconds{queue="${queue}"`))).toEqual(
      [],
    );
  });

  it('is in the table of docs/operations/watch.md, and that table has nothing else', async () => {
    const page = await readFile('docs/operations/watch.md', 'utf8');
    const listed = [...page.matchAll(/^\| `([a-z_]+)` \| (?:gauge|counter|histogram) \|/gm)].map(
      ([, name = '']) => name,
    );
    const own = [...metricsText.matchAll(/^# TYPE (\S+) /gm)]
      .map(([, name = '']) => name)
      .filter((name) => !/^(temporal|process|nodejs)_/.test(name));
    expect(listed.toSorted()).toEqual(own.toSorted());
  });
});

describe('observeGauges', () => {
  it('reports running campaigns, their limit and every queue', async () => {
    await seedCampaign(database.pool, { recipients: 7 });
    const metrics = createMetrics('worker');
    observeGauges(metrics, database.pool);
    const text = await metrics.registry.metrics();
    expect(valueOf(text, 'database_gauges_readable{service="worker"}')).toBe(1);
    expect(valueOf(text, 'campaigns{status="RUNNING",pause_reason="",service="worker"}')).toBe(1);
    expect(
      valueOf(text, 'campaigns{status="PAUSED",pause_reason="INSUFFICIENT_BALANCE",service="worker"}'),
    ).toBe(0);
    expect(valueOf(text, 'running_recipients{state="pending",service="worker"}')).toBe(7);
    expect(
      valueOf(text, 'sending_limit_messages_per_second{kind="configured",service="worker"}'),
    ).toBeGreaterThan(0);
    for (const queue of [
      'events',
      'deliveries',
      'callbacks',
      'workflow_outbox',
      'campaign_starts',
      'claims',
      'unmatched_statuses',
    ])
      expect(valueOf(text, `queue_depth{queue="${queue}",service="worker"}`), queue).toBe(0);
    for (const table of ['event', 'webhook_delivery', 'provider_callback'])
      expect(valueOf(text, `daily_partitions_ahead{table="${table}",service="worker"}`), table).toBe(7);
  });

  it('reports starts that wait for their turn apart from messages that Temporal is to be told', async () => {
    const { campaignId, workspaceId } = await seedCampaign(database.pool, { recipients: 1 });
    await database.pool.query(sql.type(nothing)`
      INSERT INTO workflow_outbox (campaign_id, kind, workspace_id, created_at)
      VALUES (${campaignId}, 'start', ${workspaceId}, now() - interval '10 minutes')`);
    const metrics = createMetrics('worker');
    observeGauges(metrics, database.pool);
    const text = await metrics.registry.metrics();
    const oldest = (queue: string) =>
      valueOf(text, `queue_oldest_seconds{queue="${queue}",service="worker"}`);
    expect(oldest('workflow_outbox')).toBe(0);
    expect(oldest('campaign_starts')).toBeGreaterThan(599);
  });

  it('reports how far replication slots are behind, and the age of the oldest transaction', async () => {
    const { owner } = database;
    await owner.query(sql.type(nothing)`SELECT pg_create_physical_replication_slot('standby', true)`);
    try {
      await owner.query(sql.type(nothing)`SELECT pg_switch_wal() FROM (SELECT txid_current()) AS written`);
      await seedCampaign(database.pool, { recipients: 1 });
      const metrics = createMetrics('worker');
      observeGauges(metrics, database.pool);
      const text = await metrics.registry.metrics();
      expect(valueOf(text, 'replication_lag_bytes{service="worker"}')).toBeGreaterThan(0);
      expect(valueOf(text, 'transaction_id_age{service="worker"}')).toBeGreaterThan(10);
    } finally {
      await owner.query(sql.type(nothing)`SELECT pg_drop_replication_slot('standby')`);
    }
  });

  it('reports that the database cannot be read, and all other metrics', async () => {
    const away = await createDatabase(database.url, 1);
    await away.end();
    const metrics = createMetrics('worker');
    observeGauges(metrics, away);
    const text = await metrics.registry.metrics();
    expect(valueOf(text, 'database_gauges_readable{service="worker"}')).toBe(0);
    expect(text).not.toMatch(/^queue_depth\{/m);
    expect(text).toMatch(/^process_resident_memory_bytes\{/m);
  });
});

describe('measuring', () => {
  const logger = { debug: () => undefined };
  const message = {} as Parameters<MessagingProvider['sendMessage']>[0];

  function providerAnswering(result: SendResult): MessagingProvider {
    return { sendMessage: async () => result } as unknown as MessagingProvider;
  }

  it('counts a message by its outcome, and a refusal by a code that we know', async () => {
    const metrics = createMetrics('worker');
    const refusal = {
      kind: 'rejected',
      httpStatus: 400,
      message: '',
      details: null,
      isTransient: false,
    } as const;
    for (const code of [130429, 130429, 987654])
      await measureProvider({ ...metrics, logger }, providerAnswering({ ...refusal, code })).sendMessage(
        message,
      );
    const text = await metrics.registry.metrics();
    expect(valueOf(text, 'provider_send_seconds_count{service="worker",outcome="rejected"}')).toBe(3);
    expect(valueOf(text, 'provider_send_seconds_count{service="worker",outcome="accepted"}')).toBe(0);
    expect(valueOf(text, 'provider_refusals_total{code="130429",service="worker"}')).toBe(2);
    expect(valueOf(text, 'provider_refusals_total{code="other",service="worker"}')).toBe(1);
  });

  it('counts no message as unreachable that this process held back', async () => {
    const metrics = createMetrics('worker');
    for (const cause of ['held back', 'ECONNREFUSED'])
      await measureProvider(
        { ...metrics, logger },
        providerAnswering({ kind: 'unreachable', cause }),
      ).sendMessage(message);
    const text = await metrics.registry.metrics();
    expect(valueOf(text, 'provider_send_seconds_count{service="worker",outcome="unreachable"}')).toBe(1);
  });

  it('counts a webhook attempt by its outcome', async () => {
    const metrics = createMetrics('worker');
    const outcome = {
      state: 'failed',
      errorCode: 'timeout',
      responseStatus: null,
      responseExcerpt: null,
      durationMs: 5000,
    };
    const outbound = measureOutbound(metrics, { postWebhook: async () => outcome } as unknown as Outbound);
    await outbound.postWebhook({ url: 'http://127.0.0.1/', headers: {}, body: Buffer.alloc(0) });
    const text = await metrics.registry.metrics();
    expect(valueOf(text, 'webhook_attempt_seconds_sum{service="worker",outcome="timeout"}')).toBe(5);
  });

  it('counts recipients by the state they came to', async () => {
    const metrics = createMetrics('worker');
    countRecipients(metrics, ['ACCEPTED', 'ACCEPTED', 'FAILED']);
    const text = await metrics.registry.metrics();
    expect(valueOf(text, 'recipient_changes_total{state="accepted",service="worker"}')).toBe(2);
    expect(valueOf(text, 'recipient_changes_total{state="failed",service="worker"}')).toBe(1);
    expect(valueOf(text, 'recipient_changes_total{state="read",service="worker"}')).toBe(0);
  });
});

describe('/metrics of a worker', () => {
  it('joins the metrics of the process and of Temporal’s SDK', async () => {
    const health = await serveHealth({
      host: '127.0.0.1',
      port: 0,
      metrics: createMetrics('worker'),
      moreMetrics: async () => '# TYPE temporal_request_total counter\ntemporal_request_total 3\n',
      missing: async () => [],
    });
    const text = await new Promise<string>((resolve, reject) => {
      get({ host: '127.0.0.1', port: health.port, path: '/metrics', agent: false }, (response) => {
        const parts: string[] = [];
        response.setEncoding('utf8').on('data', (part: string) => parts.push(part));
        response.on('end', () => resolve(parts.join('')));
      }).on('error', reject);
    });
    await health.close();
    expect(valueOf(text, 'temporal_request_total')).toBe(3);
    expect(valueOf(text, 'wallet_pauses_total{service="worker"}')).toBe(0);
  });
});
