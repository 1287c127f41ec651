/** /healthz, /readyz and /metrics on a port of their own: plain node:http, for probes and scrapers alone. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cacheFor } from '../concurrency/cache-for.ts';
import type { Metrics } from '../telemetry/metrics.ts';

export interface HealthServer {
  readonly port: number;
  readonly close: () => Promise<void>;
}

export interface HealthOptions {
  readonly host: string;
  readonly port: number;
  readonly metrics: Pick<Metrics, 'registry' | 'text'>;
  /** Metrics kept outside `metrics`, in the same text format. */
  readonly moreMetrics?: () => Promise<string>;
  /** Names what the process lacks to be ready; empty when it is ready. */
  readonly missing: () => Promise<readonly string[]>;
}

const keepMs = 1_000;

export async function serveHealth({
  host,
  port,
  metrics,
  moreMetrics = async () => '',
  missing,
}: HealthOptions): Promise<HealthServer> {
  const findMissing = cacheFor(keepMs, missing);
  const answer = async (path: string): Promise<{ status: number; type: string; body: string }> => {
    const json = (status: number, body: object) => ({
      status,
      type: 'application/json',
      body: JSON.stringify(body),
    });
    if (path === '/metrics') {
      const texts = await Promise.all([metrics.text(), moreMetrics()]);
      return { status: 200, type: metrics.registry.contentType, body: texts.join('\n') };
    }
    if (path === '/healthz') return json(200, { status: 'ok' });
    if (path === '/readyz') {
      const names = await findMissing();
      return names.length === 0
        ? json(200, { status: 'ready' })
        : json(503, { status: 'error', code: 503, message: `Not ready: ${names.join(', ')}` });
    }
    return json(404, { status: 'error', code: 404, message: 'Not found' });
  };
  const server: Server = createServer((request, response) => {
    void answer(request.url ?? '/').then(
      ({ status, type, body }) => response.writeHead(status, { 'content-type': type }).end(body),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
