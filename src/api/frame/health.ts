/** Liveness and readiness. No API key. */
import * as t from 'io-ts';
import { struct } from '../../codecs/struct.ts';
import { endpoint } from './endpoint.ts';
import { HttpProblem } from './http-problem.ts';

export const healthz = endpoint(
  {
    method: 'GET',
    path: '/healthz',
    operationId: 'getHealth',
    summary: 'Whether the process lives',
    tag: 'Operations',
    access: 'public',
    probe: true,
    responses: {
      200: {
        description: 'The process lives',
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
    summary: 'Whether the process can do its work: Postgres, Temporal and the migrations are all right',
    tag: 'Operations',
    access: 'public',
    probe: true,
    responses: {
      200: {
        description: 'Ready; otherwise 503, the message naming what is not',
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
