/**
 * Metrics of Temporal's SDK. The SDK serves them on its own loopback port; the worker includes them in its own metrics, so that
 * there is one address to scrape.
 */
import { get } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import type { MetricsExporterConfig } from '@temporalio/worker';

export interface SdkMetrics {
  /** For `Runtime.install`. */
  readonly exporter: MetricsExporterConfig;
  /** In Prometheus' text format; empty if the SDK does not respond. */
  readonly read: () => Promise<string>;
}

const patienceMs = 2_000;
const host = '127.0.0.1';

export async function prepareSdkMetrics(): Promise<SdkMetrics> {
  const port = await freePort();
  return {
    exporter: {
      prometheus: {
        bindAddress: `${host}:${port}`,
        countersTotalSuffix: true,
        unitSuffix: true,
        useSecondsForDurations: true,
      },
    },
    read: () => readText(port).catch(() => ''),
  };
}

// 2 min: Temporal retries a failed workflow task within 40 s, so a workflow that still fails is counted again by then.
const rememberedMs = 120_000;

// 5 min: failing readiness stops a rollout of code that cannot continue open workflows. Later it would also stop the remedy, a
// rollback to a build that cannot continue some of them either. The alert WorkflowTasksFail keeps firing.
const countedMs = 300_000;

/**
 * Names the workflows that this process cannot go on with, as `workflow campaign: NonDeterminismError`: a task of theirs
 * failed here within the last two minutes. Names none once the process has run for five minutes.
 */
export function watchFailures(
  read: SdkMetrics['read'],
  now = () => performance.now(),
): () => Promise<readonly string[]> {
  const startedAt = now();
  const failures = new Map<string, { readonly count: number; readonly at: number }>();
  return async () => {
    if (now() - startedAt > countedMs) return [];
    const series = /^temporal_workflow_task_execution_failed_total\{(.*)\} (\d+)/gm;
    for (const [, labels = '', count] of (await read()).matchAll(series)) {
      const name = `workflow ${labelOf(labels, 'workflow_type')}: ${labelOf(labels, 'failure_reason')}`;
      const before = failures.get(name)?.count ?? 0;
      if (Number(count) > before) failures.set(name, { count: Number(count), at: now() });
    }
    return [...failures].filter(([, { at }]) => now() - at < rememberedMs).map(([name]) => name);
  };
}

function labelOf(labels: string, name: string): string {
  return new RegExp(`\\b${name}="([^"]*)"`).exec(labels)?.[1] ?? 'unknown';
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, host, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

function readText(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get({
      host,
      port,
      path: '/metrics',
      agent: false,
      signal: AbortSignal.timeout(patienceMs),
    });
    request.once('error', reject);
    request.once('response', (response) => {
      const parts: string[] = [];
      response.setEncoding('utf8');
      response.on('data', (part: string) => parts.push(part));
      response.once('error', reject);
      response.once('end', () => resolve(parts.join('')));
    });
  });
}
