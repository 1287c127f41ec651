/** GET /metrics for Prometheus. It needs no API key: keep it off the public network. */
import { endpoint } from './endpoint.ts';

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
