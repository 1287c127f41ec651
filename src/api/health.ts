/** Liveness and readiness. No API key. */
import * as t from 'io-ts';
import { struct } from '../codecs/struct.ts';
import type { Dependencies } from '../dependencies.ts';
import { pendingMigrations } from '../migrate.ts';
import { pingDatabase } from '../records/ping.ts';
import { sqlFolder } from '../sql-folder.ts';
import { endpoint } from './endpoint.ts';
import { HttpProblem } from './http-problem.ts';

const checkTimeoutMs = 3_000;

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
  async ({ dependencies, request }) => {
    const missing = request.stopping ? ['stopping'] : await findMissing(dependencies);
    if (missing.length > 0) throw new HttpProblem(503, `Not ready: ${missing.join(', ')}`);
    return { status: 200, body: { status: 'ready' as const } };
  },
);

async function findMissing({ config, database, orchestrator }: Dependencies): Promise<readonly string[]> {
  const [postgres, migrations, temporal] = await Promise.all([
    holds(pingDatabase(database).then(() => true)),
    holds(pendingMigrations(config.databaseUrl, sqlFolder()).then(({ length }) => length === 0)),
    holds(orchestrator.ping(checkTimeoutMs).then(() => true)),
  ]);
  return [
    ...(postgres ? [] : ['postgres']),
    // Without a database nothing is known of its migrations.
    ...(migrations || !postgres ? [] : ['migrations']),
    ...(temporal ? [] : ['temporal']),
  ];
}

/** False for a check that fails or does not answer in time. */
async function holds(check: Promise<boolean>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), checkTimeoutMs);
  });
  try {
    return await Promise.race([check, late]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
