/** What a process tells at /metrics. Each process makes one registry; a part adds its own metrics to it. */
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Database } from './records/database.ts';

export interface Metrics {
  readonly registry: Registry;
  /** Seconds, by `method`, `route` (the path as declared) and `status`. */
  readonly httpRequestSeconds: Histogram<'method' | 'route' | 'status'>;
}

/** Memory, processor time and event-loop delay come with every registry. */
export function createMetrics(service: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  const httpRequestSeconds = new Histogram({
    name: 'http_request_seconds',
    help: 'Time from the request head to the end of the answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  return { registry, httpRequestSeconds };
}

/** Connections of the pool by state, and how many queries wait for one. */
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
