/** Programs of the build that are started before what they need. */
import { msToTs } from '@temporalio/common/lib/time.js';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { openTcpRelay, throughRelay, type TcpRelay } from '../../local/rehearsals/chaos/tcp-relay.ts';
import { deploymentName } from '../../src/orchestrator/worker-deployment.ts';
import { nothing } from '../../src/records/database/row.ts';
import { searchAttributeNames } from '../../src/workflows/contract.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTemporal } from '../support/temporal.ts';
import { startProgram, type StartedProgram } from './child-process.ts';

let database: TestDatabase;
let temporal: TestWorkflowEnvironment;
let toPostgres: TcpRelay;
let toTemporal: TcpRelay;
beforeAll(async () => {
  [database, temporal] = await Promise.all([createTestDatabase(), startTemporal()]);
  const [host = '', port] = temporal.address.split(':');
  const { hostname, port: databasePort } = new URL(database.url);
  toPostgres = await openTcpRelay({ host: hostname, port: Number(databasePort) });
  toTemporal = await openTcpRelay({ host, port: Number(port) });
});
afterAll(async () => {
  await temporal?.teardown();
  await Promise.all([toPostgres?.close(), toTemporal?.close()]);
  await database?.drop();
});

// Each test begins with a database that has not been started on yet.
beforeEach(() =>
  database.pool.query(sql.type(nothing)`
  UPDATE installation SET temporal_namespace_id = NULL, temporal_namespace = NULL, postgres_id = NULL`),
);

const running: StartedProgram[] = [];
afterEach(async () => {
  for (const { child } of running) child.kill('SIGKILL');
  await Promise.all(running.splice(0).map(({ ended }) => ended));
  await Promise.all([toPostgres.set('open'), toTemporal.set('open')]);
});

const programs = {
  api: {
    path: 'dist/src/server.js',
    port: { PORT: '0' },
    says: '"msg":"listening"',
    portPattern: /"port":(\d+),"msg":"listening"/,
  },
  worker: {
    path: 'dist/src/worker.js',
    port: { METRICS_PORT: '0' },
    says: 'health served',
    portPattern: /"port":(\d+),"msg":"health served"/,
  },
} as const;

async function start(name: keyof typeof programs, namespace = 'default', settings = {}) {
  const { path, port, says, portPattern } = programs[name];
  const program = startProgram({
    path,
    environment: {
      ...port,
      DATABASE_URL: throughRelay(database.url, toPostgres),
      TEMPORAL_ADDRESS: `${toTemporal.host}:${toTemporal.port}`,
      TEMPORAL_NAMESPACE: namespace,
      PROVIDER_BASE_URL: 'http://127.0.0.1:9/v23.0',
      SECRETS_KEY: 'a secrets key of the tests',
      ...settings,
    },
  });
  running.push(program);
  await program.says(says);
  const [, number] = portPattern.exec(program.output()) ?? [];
  const get = async (probe: string) => {
    const response = await fetch(`http://127.0.0.1:${number}${probe}`);
    const body = (await response.json()) as { readonly message?: string };
    return [response.status, body.message] as const;
  };
  const served = async () => {
    const response = await fetch(`http://127.0.0.1:${number}/metrics`);
    return [...(await response.text()).matchAll(/^task_queue_served\{queue="(\w+)"/gm)].map(
      ([, queue]) => queue,
    );
  };
  return { ...program, get, served };
}

/** A namespace as ops/temporal/set-up-namespace.sh makes it. */
async function registerNamespace(namespace: string): Promise<void> {
  await temporal.connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs('1 day'),
  });
  const { workspaceId, campaignStatus, pauseReason } = searchAttributeNames;
  const searchAttributes = { [workspaceId]: 2, [campaignStatus]: 2, [pauseReason]: 2 };
  const add = () => temporal.connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  // The server knows a new namespace after some seconds.
  await expect.poll(() => add().then(() => true, String), { timeout: 60_000 }).toBe(true);
}

const names = ['api', 'worker'] as const;
const startBoth = (namespace?: string) => Promise.all(names.map((name) => start(name, namespace)));
type Program = Awaited<ReturnType<typeof start>>;

/** Polls: on a busy machine a check may time out, and then reports as missing what is there. */
async function untilMissing(
  started: readonly Program[],
  missing: { readonly api: string; readonly worker: string },
): Promise<void> {
  await expect
    .poll(() => Promise.all(started.map(({ get }) => get('/readyz'))), { timeout: 60_000 })
    .toEqual([
      missing.api === '' ? [200, undefined] : [503, `Not ready: ${missing.api}`],
      [503, `Not ready: ${missing.worker}, task queues`],
    ]);
}
const sayWhatIsMissing = (started: readonly Program[]) =>
  Promise.all(
    started.map(({ says }, at) =>
      says(
        `"missing":[${at === 0 ? '"postgres"' : '"postgres","temporal"'}],"msg":"waiting for what is missing"`,
      ),
    ),
  );
const statusOfEach = async (started: readonly Program[], probe: string) =>
  (await Promise.all(started.map(({ get }) => get(probe)))).map(([status]) => status);

it('programs run, are not ready and say why, until Postgres and Temporal answer', async () => {
  await Promise.all([toPostgres.set('gone'), toTemporal.set('gone')]);
  const started = await startBoth();
  expect(await statusOfEach(started, '/healthz')).toEqual([200, 200]);
  await untilMissing(started, { api: 'postgres', worker: 'postgres, temporal' });
  await sayWhatIsMissing(started);
  await toPostgres.set('open');
  // An API is ready without Temporal.
  await untilMissing(started, { api: '', worker: 'temporal' });
  const [, worker] = started;
  expect(worker?.output()).not.toContain('worker ready');
  await toTemporal.set('open');
  await worker?.says('worker ready');
  await expect.poll(() => statusOfEach(started, '/readyz'), { timeout: 60_000 }).toEqual([200, 200]);
  await Promise.all(started.map(({ says }) => says('nothing is missing any more')));
});

it('the log names why Postgres is missing, /readyz does not', async () => {
  const url = new URL(database.url);
  url.pathname = '/no-such-database';
  const started = await Promise.all(names.map((name) => start(name, 'default', { DATABASE_URL: url.href })));
  await Promise.all(
    started.map(({ says }) => says('"reasons":["postgres: database \\"no-such-database\\" does not exist"')),
  );
  await untilMissing(started, { api: 'postgres', worker: 'postgres' });
}, 150_000);

it('an admin command prints one line when Temporal is away', async () => {
  const doctor = startProgram({
    path: 'dist/src/admin.js',
    args: ['doctor', '--pause-seconds', '0'],
    environment: {
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: '127.0.0.1:9',
      SECRETS_KEY: 'a secrets key of the tests',
    },
  });
  running.push(doctor);
  expect(await doctor.ended).toBe(1);
  expect(doctor.output()).toMatch(/^Temporal \(TEMPORAL_ADDRESS\) does not answer: .*\n*$/);
}, 60_000);

it('programs wait for servers that accept connections and do not answer', async () => {
  await Promise.all([toPostgres.set('silent'), toTemporal.set('silent')]);
  const started = await startBoth();
  expect(await statusOfEach(started, '/healthz')).toEqual([200, 200]);
  await sayWhatIsMissing(started);
  await Promise.all([toPostgres.set('open'), toTemporal.set('open')]);
  await expect.poll(() => statusOfEach(started, '/readyz'), { timeout: 60_000 }).toEqual([200, 200]);
});

it('programs wait for a namespace that is created after their start', async () => {
  const namespace = `late-${randomUUID()}`;
  const started = await startBoth(namespace);
  await untilMissing(started, { api: '', worker: 'temporal' });
  await registerNamespace(namespace);
  await expect.poll(() => statusOfEach(started, '/readyz'), { timeout: 60_000 }).toEqual([200, 200]);
});

it('a worker polls only the configured task queues, and is ready with them alone', async () => {
  const { workflowService } = temporal.connection;
  const namespace = `split-${randomUUID()}`;
  await registerNamespace(namespace);
  const worker = await start('worker', namespace, { TASK_QUEUES: 'webhooks' });
  await expect.poll(() => statusOfEach([worker], '/readyz'), { timeout: 60_000 }).toEqual([200]);
  const polls = async (name: string) => {
    const { pollers } = await workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name },
      // Workflow tasks.
      taskQueueType: 1,
    });
    return (pollers ?? []).length > 0;
  };
  await expect.poll(() => polls('webhooks')).toBe(true);
  expect([await polls('campaigns'), await polls('maintenance')]).toEqual([false, false]);
});

it('a worker serves no task queue until its version is current', async () => {
  const { workflowService } = temporal.connection;
  const namespace = `versions-${randomUUID()}`;
  await registerNamespace(namespace);
  const worker = await start('worker', namespace, {
    WORKER_BUILD_ID: '7',
    TASK_QUEUES: 'campaigns,maintenance',
  });
  const reason = 'Not ready: version 7 is neither current nor ramping';
  await expect.poll(() => worker.get('/readyz'), { timeout: 60_000 }).toEqual([503, reason]);
  expect(await worker.served()).toEqual([]);
  const makeCurrent = () =>
    workflowService.setWorkerDeploymentCurrentVersion({ namespace, deploymentName, buildId: '7' }).then(
      () => true,
      () => false,
    );
  await expect.poll(makeCurrent, { timeout: 60_000 }).toBe(true);
  await expect.poll(worker.served, { timeout: 60_000 }).toEqual(['campaigns', 'maintenance']);
}, 150_000);
