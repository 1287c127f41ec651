/** Endpoints that machines poll without an API key: liveness, readiness, metrics. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as t from 'io-ts';
import { cacheFor } from '../../concurrency/cache-for.ts';
import { struct } from '../../codecs/struct.ts';
import { endpoint } from './endpoint.ts';
import { HttpProblem } from './error-envelope.ts';

export const healthz = endpoint(
  {
    method: 'GET',
    path: '/healthz',
    operationId: 'getHealth',
    summary: 'Check that the process runs',
    tag: 'Operations',
    access: 'public',
    probe: true,
    responses: {
      200: {
        description: 'The process runs',
        body: struct({ status: t.literal('ok') }),
        example: { status: 'ok' },
      },
    },
  },
  async () => ({ status: 200, body: { status: 'ok' as const } }),
);

export const readyz = endpoint(
  {
    method: 'GET',
    path: '/readyz',
    operationId: 'getReadiness',
    summary: 'Check that the process can serve requests: Postgres answers and every migration has run',
    tag: 'Operations',
    access: 'public',
    probe: true,
    responses: {
      200: {
        description: 'Ready; otherwise 503 with the missing part in `message`',
        body: struct({ status: t.literal('ready') }),
        example: { status: 'ready' },
      },
    },
  },
  async ({ request }) => {
    const missing = request.isStopping() ? ['stopping'] : await request.findMissing();
    if (missing.length > 0) throw new HttpProblem(503, `Not ready: ${missing.join(', ')}`);
    return { status: 200, body: { status: 'ready' as const } };
  },
);

// 1 s: Postgres is checked at most this often, however many probes ask.
const checkMs = 1_000;

export interface Readiness {
  readonly findMissing: () => Promise<readonly string[]>;
  /**
   * Answers `GET /readyz` before the middleware runs, if the latest check found nothing missing; returns false otherwise. The
   * route has no rate limit, because a load balancer may share an address with a flood, so its cost has to be small.
   */
  readonly answer: (request: IncomingMessage, response: ServerResponse) => boolean;
}

export function createReadiness(find: () => Promise<readonly string[]>): Readiness {
  let readyUntil = 0;
  return {
    findMissing: cacheFor(checkMs, async () => {
      const missing = await find();
      readyUntil = missing.length === 0 ? performance.now() + checkMs : 0;
      return missing;
    }),
    answer({ method, url, headers }, response) {
      if (url !== '/readyz' || method !== 'GET' || headers.host === undefined) return false;
      if (headers['x-request-id'] !== undefined || performance.now() > readyUntil) return false;
      response.setHeader('X-Request-Id', randomUUID());
      response.setHeader('Content-Type', 'application/json; charset=utf-8');
      response.end('{"status":"ready"}');
      return true;
    },
  };
}

/** For Prometheus. Needs no API key: keep it off the public network. */
export const metricsEndpoint = endpoint(
  {
    method: 'GET',
    path: '/metrics',
    operationId: 'getMetrics',
    summary: 'Read the metrics of this process in the Prometheus text format',
    tag: 'Operations',
    access: 'public',
    probe: true,
    responses: { 200: { description: 'Metrics', content: { 'text/plain': { type: 'string' } } } },
  },
  async ({ dependencies: { metrics } }) => ({
    status: 200,
    content: await metrics.text(),
    contentType: metrics.registry.contentType,
  }),
);
