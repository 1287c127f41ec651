import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { Worker } from '@temporalio/worker';
import pg from 'pg';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createWebhookActivities } from '../../../src/activities/deliver-webhook.ts';
import type { Loop } from '../../../src/concurrency/polling-loop.ts';
import type { WebhookLoopOptions } from '../../../src/commands/webhooks/webhook-loops.ts';
import {
  defaultWebhookLoopOptions,
  startWebhookLoops,
} from '../../../src/commands/webhooks/webhook-loops.ts';
import type { Dependencies } from '../../../src/dependencies.ts';
import type { NewEvent } from '../../../src/domain/webhooks/new-event.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { orchestratorFor } from '../../../src/orchestrator/orchestrator.ts';
import { createOutbound } from '../../../src/outbound/outbound.ts';
import { emitEvents, fanOutEvents } from '../../../src/records/webhooks/events.ts';
import { cancelResend, getResend, insertResend } from '../../../src/records/webhooks/resends.ts';
import { updateWebhookConfiguration } from '../../../src/records/webhooks/configurations.ts';
import { createSecretBox } from '../../../src/secrets.ts';
import { webhookWorkerOptions } from '../../../src/process/webhook-worker.ts';
import { webhookDeliveryWorkflowId } from '../../../src/workflows/contract.ts';
import type { TestDatabase } from '../../support/database.ts';
import { createTestDatabase } from '../../support/database.ts';
import { startRawReceiver } from '../../support/raw-receiver.ts';
import { bundleWorkflows, startTemporal } from '../../support/temporal.ts';
import { contactEvent, makeConfiguration, makeWorkspace, query } from '../../support/webhook-fixtures.ts';
import type { ReceiverBehaviour, WebhookReceiver } from '../../support/webhook-receiver.ts';
import { startWebhookReceiver } from '../../support/webhook-receiver.ts';

let database: TestDatabase;
let temporal: TestWorkflowEnvironment;
let bundle: WorkflowBundleWithSourceMap;
let dependencies: Dependencies;
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  [database, temporal, bundle] = await Promise.all([
    createTestDatabase({ poolSize: 10 }),
    startTemporal(),
    bundleWorkflows(),
  ]);
  const client = new Client({
    connection: temporal.nativeConnection,
    namespace: temporal.namespace ?? 'default',
  });
  const quiet = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };
  dependencies = {
    config: {
      publicUrl: 'https://campaigns.example.com',
      webhookExpiryHours: 24,
      webhookShards: 16,
      webhookStarts: 16,
      webhookSlots: 1000,
      webhookSlotsPerEndpoint: 1000,
    },
    logger: quiet,
    metrics: createMetrics('test'),
    database: database.pool,
    orchestrator: orchestratorFor(client, async () => undefined, { eager: true }),
    outbound: createOutbound({ outboundAllowCidrs: ['127.0.0.0/8'], outboundDnsServers: [] }),
    secrets: createSecretBox(['a key that is long enough']),
    now: () => new Date(),
  } as unknown as Dependencies;
});
afterAll(async () => {
  await temporal?.teardown();
  await database?.drop();
});

beforeEach(() => query(database, 'TRUNCATE event, webhook_delivery, webhook_configuration'));
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const fastLoops: WebhookLoopOptions = { ...defaultWebhookLoopOptions, idleMs: 20, sweepEveryMs: 200 };

async function startWorker(overrides: Partial<Dependencies> = {}): Promise<() => Promise<void>> {
  const worker = await Worker.create({
    ...webhookWorkerOptions(dependencies.config),
    connection: temporal.nativeConnection,
    namespace: temporal.namespace ?? 'default',
    workflowBundle: bundle,
    activities: createWebhookActivities({ ...dependencies, ...overrides }),
  });
  const running = worker.run();
  const stop = async (): Promise<void> => {
    if (worker.getState() === 'RUNNING') worker.shutdown();
    await running;
  };
  closers.push(stop);
  return stop;
}

function startLoops(options: WebhookLoopOptions = fastLoops): Loop {
  const loops = startWebhookLoops(dependencies, options);
  closers.push(loops.stop);
  return loops;
}

async function receiver(behaviour: ReceiverBehaviour = {}): Promise<WebhookReceiver> {
  const started = await startWebhookReceiver(behaviour);
  closers.push(started.close);
  return started;
}

interface DeliveryRow {
  readonly id: string;
  readonly event_id: string;
  readonly state: string;
  readonly error_code: string | null;
  readonly response_status: number | null;
  readonly response_excerpt: string | null;
  readonly duration_ms: number | null;
  readonly attempted_at: Date | null;
}
const deliveries = () => query<DeliveryRow>(database, 'SELECT * FROM webhook_delivery ORDER BY id');

/** All deliveries, once none is open any more. */
const settled = (count: number): Promise<DeliveryRow[]> =>
  vi.waitFor(
    async () => {
      const rows = await deliveries();
      expect(rows).toHaveLength(count);
      expect(rows.filter(({ state }) => state === 'pending' || state === 'sending')).toHaveLength(0);
      return rows;
    },
    { timeout: 60_000, interval: 50 },
  );

async function configured(url: string, overrides: Parameters<typeof makeConfiguration>[2] = {}) {
  const workspaceId = await makeWorkspace(database);
  const configuration = await makeConfiguration(database.pool, workspaceId, { url, ...overrides });
  const emit = (events: readonly NewEvent[] = [contactEvent()]) =>
    emitEvents(database.pool, workspaceId, events);
  return { workspaceId, configuration, emit };
}

describe('a delivery', () => {
  it('reaches the receiver once, with the headers and the body of the specification', async () => {
    await startWorker();
    startLoops();
    const { url, received } = await receiver();
    const { workspaceId, configuration, emit } = await configured(url);
    await emit();
    const [row] = await settled(1);
    expect(row).toMatchObject({
      state: 'delivered',
      error_code: null,
      response_status: 200,
      response_excerpt: 'ok',
    });
    expect(received).toHaveLength(1);
    const [{ headers, body }] = received as [(typeof received)[number]];
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(body.length),
      accept: '*/*',
      'user-agent': 'MessagingCampaigns-Webhooks/1.0 (+https://campaigns.example.com/docs)',
      'x-webhook-id': configuration.id,
      'x-workspace-id': String(workspaceId),
      'x-event-key': 'contact.created',
      'webhook-id': row?.event_id,
    });
    expect(headers).not.toHaveProperty('webhook-signature');
    expect(headers).not.toHaveProperty('transfer-encoding');
    // Printable ASCII alone: the stricter rules of firewalls flag other characters in headers.
    expect(Object.values(headers).join('')).toMatch(/^[ -~]+$/);
    expect(JSON.parse(body.toString())).toMatchObject({ eventKey: 'contact.created', workspaceId });
  });

  it('begins when its event is fanned out, not at the next look of the scheduler', async () => {
    await startWorker();
    const { url, received } = await receiver();
    const { emit } = await configured(url);
    await emit();
    const never = 600_000;
    const holder = new pg.Client({ connectionString: database.ownerUrl });
    await holder.connect();
    await holder.query('BEGIN; LOCK TABLE event');
    startLoops({ ...fastLoops, idleMs: never, longestIdleMs: never, longestSchedulerIdleMs: never });
    // Meanwhile the scheduler looks in vain, and the fan-out waits for the lock.
    await sleep(300);
    await holder.end();
    await settled(1);
    expect(received).toHaveLength(1);
  });

  it('is signed by the present secret and, for a day, by the one before', async () => {
    await startWorker();
    startLoops();
    const { url, received } = await receiver();
    const { encrypt } = dependencies.secrets;
    const id = randomUUID();
    const { workspaceId, configuration, emit } = await configured(url, {
      id,
      secretEncrypted: encrypt('old secret', `webhook ${id}`),
    });
    await updateWebhookConfiguration(database.pool, workspaceId, configuration.id, {
      secret: { encrypted: encrypt('new secret', `webhook ${id}`), isStoredAs: () => false },
    });
    await emit();
    await settled(1);
    await query(
      database,
      `UPDATE webhook_configuration SET previous_secret_expires_at = now() - interval '1 second'`,
    );
    await emit();
    await settled(2);
    const verify = (secret: string, index: number) => {
      const { headers, body } = received[index] as (typeof received)[number];
      return new Webhook(secret, { format: 'raw' }).verify(body, headers as Record<string, string>);
    };
    expect(verify('new secret', 0)).toHaveProperty('eventKey');
    expect(verify('old secret', 0)).toHaveProperty('eventKey');
    expect(verify('new secret', 1)).toHaveProperty('eventKey');
    expect(() => verify('old secret', 1)).toThrow();
  });

  it('that the receiver refuses is recorded and not tried again', async () => {
    await startWorker();
    startLoops();
    const { url, received } = await receiver({ status: 503 });
    const { emit } = await configured(url);
    await emit();
    const [row] = await settled(1);
    expect(row).toMatchObject({ state: 'failed', error_code: 'non_2xx', response_status: 503 });
    expect(received).toHaveLength(1);
  });

  it('that hangs ends after five seconds and delays no other', async () => {
    await startWorker();
    startLoops();
    const hanging = await receiver({ delayMs: Number.POSITIVE_INFINITY });
    const healthy = await receiver();
    const slow = await configured(hanging.url);
    const fast = await configured(healthy.url);
    const deliver = async (count: number) => {
      const emittedAt = performance.now();
      await fast.emit();
      await vi.waitFor(() => expect(healthy.received).toHaveLength(count), { timeout: 60_000, interval: 10 });
      return (healthy.received[count - 1]?.receivedAt ?? Infinity) - emittedAt;
    };
    const alone = await deliver(1);
    await slow.emit(Array.from({ length: 10 }, () => contactEvent()));
    await vi.waitFor(() => expect(hanging.received.length).toBeGreaterThan(0), { timeout: 20_000 });
    // It waits for none of the hanging ones.
    expect(await deliver(2)).toBeLessThan(alone + 4_500);
    const rows = await settled(12);
    const timedOut = rows.filter((row) => row.error_code === 'timeout');
    expect(timedOut).toHaveLength(10);
    for (const { duration_ms: duration } of timedOut) expect(duration).toBeGreaterThanOrEqual(4950);
  });
});

describe('a resend', () => {
  it('sends again what a webhook missed, nothing after a cancellation and nothing to an inactive webhook', async () => {
    await startWorker();
    const behaviour = { status: 503 };
    const make = async () => {
      const { url, received } = await receiver(behaviour);
      return { ...(await configured(url)), received };
    };
    const [inactive, cancelled, active] = await Promise.all([make(), make(), make()]);
    for (const { emit } of [inactive, cancelled, active]) await emit([contactEvent(), contactEvent()]);
    const failing = startLoops();
    await settled(6);
    await failing.stop();

    const span = { since: new Date(Date.now() - 3_600_000), until: new Date() };
    const begin = ({ workspaceId, configuration }: typeof active) =>
      insertResend(database.pool, workspaceId, { ...span, webhookId: configuration.id });
    const find = ({ workspaceId, configuration }: typeof active, resendId: string) =>
      getResend(database.pool, workspaceId, { webhookId: configuration.id, resendId });
    const completed = (webhook: typeof active, resendId: string) =>
      vi.waitFor(
        async () =>
          expect(await find(webhook, resendId)).toMatchObject({ state: 'completed', seen: 2, resent: 2 }),
        { timeout: 60_000, interval: 50 },
      );
    const setStatus = (status: string) =>
      query(database, 'UPDATE webhook_configuration SET status = $2 WHERE id = $1', [
        inactive.configuration.id,
        status,
      ]);
    // In this order the loop looks at them.
    const ofInactive = await begin(inactive);
    const ofCancelled = await begin(cancelled);
    const ofActive = await begin(active);
    await setStatus('inactive');
    const of = { webhookId: cancelled.configuration.id, resendId: ofCancelled.id };
    expect(await cancelResend(database.pool, cancelled.workspaceId, of)).toMatchObject({
      state: 'cancelled',
    });
    behaviour.status = 200;
    startLoops({ ...fastLoops, resendEveryMs: 20 });
    await completed(active, ofActive.id);
    await settled(8);
    expect(await find(inactive, ofInactive.id)).toMatchObject({ state: 'running', total: 2, seen: 0 });
    expect([inactive, cancelled, active].map(({ received }) => received.length)).toEqual([2, 2, 4]);
    const eventsOf = (from: number) =>
      active.received.slice(from, from + 2).map(({ headers }) => headers['webhook-id']);
    expect(eventsOf(2).toSorted()).toEqual(eventsOf(0).toSorted());

    await setStatus('active');
    await completed(inactive, ofInactive.id);
    const rows = await settled(10);
    expect(rows.filter(({ state }) => state === 'delivered')).toHaveLength(4);
    expect([inactive, cancelled, active].map(({ received }) => received.length)).toEqual([4, 2, 4]);
  });
});

describe('at most one request', () => {
  it('is made when the workflow is started many times', async () => {
    await startWorker();
    const { url, received } = await receiver();
    const { emit } = await configured(url);
    await emit();
    startLoops();
    const [row] = await settled(1);
    await temporal.client.workflow.getHandle(webhookDeliveryWorkflowId(row?.id ?? '')).result();
    const starts = await Promise.all(
      Array.from({ length: 10 }, () => dependencies.orchestrator.startWebhookDelivery(row?.id ?? '')),
    );
    expect(new Set(starts)).toEqual(new Set(['closed']));
    expect(received).toHaveLength(1);
  });

  it('is made when the activity is called twice at once', async () => {
    const { url, received } = await receiver({ delayMs: 100 });
    const { emit } = await configured(url);
    await emit();
    await fanOutEvents(database.pool, 10);
    const [row] = await deliveries();
    const { deliverWebhook } = createWebhookActivities(dependencies);
    const input = { deliveryId: row?.id ?? '' };
    const outcomes = await Promise.all([deliverWebhook(input), deliverWebhook(input)]);
    expect(outcomes.toSorted()).toEqual(['delivered', 'not pending']);
    expect(received).toHaveLength(1);
  });

  it('is made when the workflow is reset', async () => {
    await startWorker();
    startLoops();
    const { url, received } = await receiver();
    const { emit } = await configured(url);
    await emit();
    const [row] = await settled(1);
    const workflowId = webhookDeliveryWorkflowId(row?.id ?? '');
    const handle = temporal.client.workflow.getHandle(workflowId);
    await handle.result();
    await temporal.client.workflowService.resetWorkflowExecution({
      namespace: temporal.namespace ?? 'default',
      workflowExecution: { workflowId },
      // Right after the first workflow task; the generated type wants a Long, the encoder takes a number.
      workflowTaskFinishEventId: 4 as never,
      reason: 'test',
      requestId: 'test-reset',
    });
    expect(await temporal.client.workflow.getHandle(workflowId).result()).toBe('not pending');
    expect(received).toHaveLength(1);
  });

  it('is made when an operator terminates and starts anew while the receiver holds the request', async () => {
    await startWorker();
    startLoops();
    const { url, received } = await receiver({ delayMs: 3_500 });
    const { emit } = await configured(url);
    await emit();
    await vi.waitFor(() => expect(received).toHaveLength(1), { timeout: 20_000, interval: 10 });
    const [open] = await deliveries();
    expect(open?.state).toBe('sending');
    const deliveryId = open?.id ?? '';
    const workflowId = webhookDeliveryWorkflowId(deliveryId);
    const { workflow } = temporal.client;
    await workflow.getHandle(workflowId).terminate('test');
    const startAs = (id: string) =>
      workflow.execute('webhookDelivery', { workflowId: id, taskQueue: 'webhooks', args: [{ deliveryId }] });
    expect(await Promise.all([startAs(workflowId), startAs(`another-${deliveryId}`)])).toEqual([
      'not pending',
      'not pending',
    ]);
    const [row] = await settled(1);
    expect(row).toMatchObject({ state: 'delivered', response_status: 200 });
    expect(received).toHaveLength(1);
  });

  it('is made when the worker dies in the middle of it, and the delivery ends as interrupted', async () => {
    const raw = await startRawReceiver(() => undefined);
    closers.push(raw.close);
    const { emit } = await configured(`http://127.0.0.1:${raw.port}/`);
    await emit();
    // A process that dials and is gone before it can record anything.
    const dying: Dependencies['outbound'] = {
      ...dependencies.outbound,
      postWebhook: (request) => {
        void dependencies.outbound.postWebhook(request);
        return new Promise(() => undefined);
      },
    };
    const activities = createWebhookActivities({ ...dependencies, outbound: dying });
    const loops = startWebhookLoops(
      {
        ...dependencies,
        orchestrator: {
          ...dependencies.orchestrator,
          startWebhookDelivery: async (deliveryId) => {
            void activities.deliverWebhook({ deliveryId });
            return 'started';
          },
        },
      },
      fastLoops,
    );
    await vi.waitFor(() => expect(raw.connections).toHaveLength(1), { timeout: 20_000 });
    await loops.stop();
    await query(database, `UPDATE webhook_delivery SET sending_until = now() - interval '1 second'`);
    await startWorker();
    startLoops();
    const [row] = await settled(1);
    expect(row).toMatchObject({ state: 'failed', error_code: 'interrupted' });
    expect(raw.connections).toHaveLength(1);
  });

  it('is made later when no worker was running at first', async () => {
    const { url, received } = await receiver();
    const { emit } = await configured(url);
    await emit();
    const loops = startLoops();
    await vi.waitFor(async () => {
      const [row] = await query(database, 'SELECT 1 FROM webhook_delivery WHERE dispatched_at IS NOT NULL');
      expect(row).toBeDefined();
    }, 45_000);
    await loops.stop();
    expect(received).toHaveLength(0);
    await startWorker();
    startLoops();
    const [row] = await settled(1);
    expect(row?.state).toBe('delivered');
    expect(received).toHaveLength(1);
  });
});

describe('many deliveries', () => {
  it('all arrive, each once, with several schedulers', async () => {
    await startWorker();
    startLoops();
    startLoops();
    const { url, received } = await receiver();
    const { emit } = await configured(url);
    const events = Array.from({ length: 60 }, (_, index) => contactEvent({ firstName: `n${index}` }));
    await emit(events);
    const rows = await settled(60);
    // On a machine that stands still for five seconds, a request that arrives may time out all the same.
    const timedOut = rows.filter(({ error_code: errorCode }) => errorCode === 'timeout');
    expect(rows.filter(({ state }) => state === 'delivered')).toHaveLength(60 - timedOut.length);
    const names = received.map(({ body }) => JSON.parse(body.toString()).data.contact.firstName as string);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThanOrEqual(60 - timedOut.length);
  });
});
