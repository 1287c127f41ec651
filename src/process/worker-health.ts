/** /healthz, /readyz and /metrics of a worker process: plain node:http, for probes and scrapers alone. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';

export interface WorkerHealth {
  readonly port: number;
  readonly close: () => Promise<void>;
}

export interface WorkerHealthOptions {
  readonly host: string;
  readonly port: number;
  readonly registry: Registry;
  /** Metrics that others keep, in the same text format. */
  readonly moreMetrics: () => Promise<string>;
  /** What keeps the process from its work; nothing when it is ready. */
  readonly missing: () => Promise<readonly string[]>;
}

export async function serveWorkerHealth({
  host,
  port,
  registry,
  moreMetrics,
  missing,
}: WorkerHealthOptions): Promise<WorkerHealth> {
  const answer = async (path: string): Promise<{ status: number; type: string; body: string }> => {
    const json = (status: number, body: object) => ({
      status,
      type: 'application/json',
      body: JSON.stringify(body),
    });
    if (path === '/metrics') {
      const texts = await Promise.all([registry.metrics(), moreMetrics()]);
      return { status: 200, type: registry.contentType, body: texts.join('\n') };
    }
    if (path === '/healthz') return json(200, { status: 'ok' });
    if (path === '/readyz') {
      const names = await missing();
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
