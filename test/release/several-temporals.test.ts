/** Deliveries over three Temporal servers: one is added, one drained, one lost while they run. Each arrives exactly once. */
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { emitEvents } from '../../src/records/webhooks/events.ts';
import type { TestDatabase } from '../support/database.ts';
import { createTestDatabase } from '../support/database.ts';
import { rawResponse, startRawReceiver } from '../support/raw-receiver.ts';
import { startTemporal } from '../support/temporal.ts';
import { contactEvent, makeConfiguration, makeWorkspace, query } from '../support/webhook-fixtures.ts';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process.ts';

let database: TestDatabase;
let [main, first, second, third]: TestWorkflowEnvironment[] = [];
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  [main, first, second, third] = await Promise.all(Array.from({ length: 4 }, () => startTemporal()));
}, 240_000);
afterAll(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  for (const temporal of [main, first, second, third]) await temporal?.teardown();
  await database?.drop();
});

async function startWorker(...clusters: (TestWorkflowEnvironment | undefined)[]): Promise<WorkerProcess> {
  const worker = await startWorkerProcess({
    databaseUrl: database.url,
    temporalAddress: main?.address ?? '',
    environment: {
      TASK_QUEUES: 'webhooks',
      WEBHOOK_TEMPORAL_ADDRESSES: clusters.map((temporal) => temporal?.address).join(','),
    },
  });
  closers.push(worker.kill);
  return worker;
}

const perPhase = 60;

/** A receiver, and what it should have received. */
async function fixture() {
  await query(database, 'TRUNCATE event, webhook_delivery, webhook_configuration');
  const raw = await startRawReceiver((socket) => void socket.end(rawResponse('200 OK')));
  closers.push(raw.close);
  const workspaceId = await makeWorkspace(database);
  await makeConfiguration(database.pool, workspaceId, { url: `http://127.0.0.1:${raw.port}/` });
  return {
    emit: () =>
      emitEvents(
        database.pool,
        workspaceId,
        Array.from({ length: perPhase }, () => contactEvent()),
      ),
    delivered: (least: number) =>
      vi.waitFor(
        async () =>
          expect(
            (await query(database, `SELECT FROM webhook_delivery WHERE state = 'delivered'`)).length,
          ).toBeGreaterThanOrEqual(least),
        { timeout: 150_000, interval: 200 },
      ),
    async expectEachOnce() {
      const rows = await query<{ event_id: string; state: string }>(
        database,
        'SELECT * FROM webhook_delivery',
      );
      const received = raw.connections.flatMap(
        (text) => /^webhook-id: (.+)$/im.exec(text)?.[1]?.trim() ?? [],
      );
      expect(rows.filter(({ state }) => state !== 'delivered')).toEqual([]);
      expect(received.toSorted()).toEqual(rows.map(({ event_id: eventId }) => eventId).toSorted());
    },
  };
}

const workflows = async (temporal: TestWorkflowEnvironment | undefined): Promise<number> =>
  (await temporal?.client.workflow.count(`WorkflowType = 'webhookDelivery'`))?.count ?? 0;

it('delivers each event once while clusters are added and drained', async () => {
  const { emit, delivered, expectEachOnce } = await fixture();
  const before = await startWorker(first, second);
  await emit();
  await delivered(perPhase / 3);
  // Added: a rolling restart with one more address.
  const added = await startWorker(first, second, third);
  await emit();
  await before.stop();
  await delivered(2 * perPhase);
  // Drained: a rolling restart with one address less, in the middle of deliveries.
  await emit();
  const drained = await startWorker(second, third);
  await added.stop();
  await delivered(3 * perPhase);
  await drained.stop();
  await expectEachOnce();
  for (const temporal of [first, second, third]) expect(await workflows(temporal)).toBeGreaterThan(0);
  expect(await workflows(main)).toBe(0);
}, 480_000);

it('continues on the other clusters when one is lost', async () => {
  const { emit, delivered, expectEachOnce } = await fixture();
  const worker = await startWorker(second, third);
  await emit();
  await delivered(perPhase);
  await second?.teardown();
  second = undefined;
  await emit();
  await delivered(2 * perPhase).catch((error: unknown) => {
    throw new Error(`not all arrived; the worker said:\n${worker.output()}`, { cause: error });
  });
  await worker.stop();
  await expectEachOnce();
}, 480_000);
