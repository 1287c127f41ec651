/**
 * The webhook half of a worker in a process of its own, forked from this file: the product's worker and webhook loops, and, on
 * a separate task queue with the same options, a worker of no-op workflows.
 */
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { WorkflowHandle } from '@temporalio/client';
import {
  bundleWorkflowCode,
  DefaultLogger,
  makeTelemetryFilterString,
  NativeConnection,
  Runtime,
  Worker,
} from '@temporalio/worker';
import { Pool } from 'undici';
import { exampleEvent } from '../../src/codecs/event-example.ts';
import { createWebhookActivities } from '../../src/activities/deliver-webhook.ts';
import type { Loop } from '../../src/concurrency/polling-loop.ts';
import {
  defaultWebhookLoopOptions,
  startWebhookLoops,
  type WebhookLoopOptions,
} from '../../src/commands/webhooks/webhook-loops.ts';
import { createDependencies } from '../../src/dependencies.ts';
import { createWorkerOrchestrator, type Orchestrator } from '../../src/orchestrator/orchestrator.ts';
import { webhookWorkerOptions } from '../../src/process/webhook-worker.ts';
import { workflowSource } from '../../src/process/worker-options.ts';
import { benchConfig } from './bench-config.ts';

export interface BareRun {
  readonly kind: 'bare';
  readonly seconds: number;
  /** Starts under way at a time. */
  readonly lanes: number;
  /** The first workflow task runs in the process that starts the workflow, instead of passing through the task queue. */
  readonly eager: boolean;
}
/**
 * Posts bodies of an event's size with a plain client. Like an attempt, each uses a new connection; unlike an attempt, none
 * checks the address.
 */
export interface PostRun {
  readonly kind: 'post';
  readonly seconds: number;
  readonly lanes: number;
  readonly url: string;
}
/** The webhook loops of the product, with its own options but for those given. */
export interface LoopsRun {
  readonly kind: 'loops';
  readonly options?: Partial<WebhookLoopOptions>;
}
export type Order = BareRun | PostRun | LoopsRun | { readonly kind: 'rest' };

export interface Reading {
  /** Workflows, or requests. */
  readonly count: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly rssMb: number;
}

export interface WebhookProcess {
  readonly pid: number;
  readonly run: (order: Order) => Promise<Reading>;
  readonly stop: () => Promise<void>;
}

export async function startWebhookProcess(
  databaseUrl: string,
  temporalAddress: string,
): Promise<WebhookProcess> {
  const child = fork(fileURLToPath(import.meta.url), ['serve', databaseUrl, temporalAddress]);
  const answer = () =>
    new Promise<Reading>((resolve, reject) => {
      child.once('exit', () => reject(new Error('the worker process ended')));
      child.once('message', (message) => resolve(message as Reading));
    });
  await answer();
  child.setMaxListeners(0);
  return {
    pid: child.pid ?? 0,
    run: (order) => {
      const read = answer();
      child.send(order);
      return read;
    },
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.disconnect();
      }),
  };
}

const bareQueue = 'bare';

/** Starts no-op workflows until the time is over, then waits for the last of them to end. */
async function runBare({ client }: Orchestrator, { seconds, lanes, eager }: BareRun): Promise<number> {
  const end = performance.now() + seconds * 1000;
  let started = 0;
  const lane = async () => {
    let last: WorkflowHandle | undefined;
    while (performance.now() < end) {
      started += 1;
      last = await client.workflow.start('noop', {
        workflowId: randomUUID(),
        taskQueue: bareQueue,
        ...(eager && { requestEagerStart: true }),
      });
    }
    return last;
  };
  const latest = await Promise.all(Array.from({ length: lanes }, lane));
  await Promise.all(latest.map(async (handle) => handle?.result()));
  return started;
}

async function runPosts({ seconds, lanes, url }: PostRun): Promise<number> {
  const end = performance.now() + seconds * 1000;
  const body = JSON.stringify(exampleEvent('delivered', new Date()).data);
  const pool = new Pool(new URL(url).origin, { connections: lanes, pipelining: 0 });
  let sent = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() < end) {
      sent += 1;
      const headers = { 'content-type': 'application/json' };
      const answer = await pool.request({ method: 'POST', path: new URL(url).pathname, headers, body });
      await answer.body.dump();
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  await pool.close();
  return sent;
}

async function serve(databaseUrl: string, temporalAddress: string): Promise<void> {
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    shutdownSignals: [],
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }) } },
  });
  const connection = await NativeConnection.connect({ address: temporalAddress });
  const config = benchConfig(databaseUrl, {
    TEMPORAL_ADDRESS: temporalAddress,
    OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
  });
  const base = await createDependencies(config, 'bench');
  const dependencies = { ...base, orchestrator: createWorkerOrchestrator(connection, 'default') };
  const attempts = new EventEmitter();
  const bareWorkflows = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('./noop-workflow.js', import.meta.url)),
    logger: new DefaultLogger('ERROR'),
  });
  const workers = await Promise.all([
    Worker.create({
      connection,
      ...workflowSource(),
      ...webhookWorkerOptions(config),
      activities: createWebhookActivities(dependencies, attempts),
    }),
    Worker.create({
      connection,
      workflowBundle: bareWorkflows,
      ...webhookWorkerOptions(config),
      taskQueue: bareQueue,
    }),
  ]);
  const running = Promise.all(workers.map((worker) => worker.run()));

  let loops: Loop | undefined;
  const obey = async (order: Order): Promise<number> => {
    if (order.kind === 'bare') return runBare(dependencies.orchestrator, order);
    if (order.kind === 'post') return runPosts(order);
    if (order.kind === 'loops') {
      loops = startWebhookLoops(dependencies, { ...defaultWebhookLoopOptions, ...order.options }, attempts);
    } else await loops?.stop();
    return 0;
  };
  const report = async (work: () => Promise<number>): Promise<void> => {
    const [startedAt, cpuBefore] = [performance.now(), process.cpuUsage()];
    const count = await work();
    const { user, system } = process.cpuUsage(cpuBefore);
    process.send?.({
      count,
      seconds: (performance.now() - startedAt) / 1000,
      cpuSeconds: (user + system) / 1_000_000,
      rssMb: Math.round(process.memoryUsage.rss() / 1024 / 1024),
    } satisfies Reading);
  };
  process.on('message', (order) => void report(() => obey(order as Order)));
  process.once('disconnect', () => {
    void (async () => {
      await loops?.stop();
      for (const worker of workers) worker.shutdown();
      await running;
      await base.close();
      process.exit(0);
    })();
  });
  await report(async () => 0);
}

const [mode, databaseUrl = '', temporalAddress = ''] = process.argv.slice(2);
if (mode === 'serve') await serve(databaseUrl, temporalAddress);
