/** Kills the worker during deliveries: the receiver counts the requests, and the records account for every delivery. */
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { emitEvents } from '../../src/records/webhooks/events.ts';
import { webhookDeliveryWorkflowId } from '../../src/workflows/contract.ts';
import type { TestDatabase } from '../support/database.ts';
import { createTestDatabase } from '../support/database.ts';
import { rawResponse, startRawReceiver, type RawAnswer } from '../support/raw-receiver.ts';
import { startTemporal } from '../support/temporal.ts';
import { contactEvent, makeConfiguration, makeWorkspace, query } from '../support/webhook-fixtures.ts';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process.ts';

let database: TestDatabase;
let temporal: TestWorkflowEnvironment;
// A start of the built worker takes seconds, on a machine that is busy half a minute.
const startsOfWorkersMs = 480_000;
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  [database, temporal] = await Promise.all([createTestDatabase(), startTemporal()]);
});
afterAll(async () => {
  await temporal?.teardown();
  await database?.drop();
});
beforeEach(() => query(database, 'TRUNCATE event, webhook_delivery, webhook_configuration'));
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function startWorker(): Promise<WorkerProcess> {
  const worker = await startWorkerProcess({
    databaseUrl: database.url,
    temporalAddress: temporal.address,
  });
  closers.push(worker.kill);
  return worker;
}

async function receiver(answer: RawAnswer) {
  const raw = await startRawReceiver(answer);
  closers.push(raw.close);
  const workspaceId = await makeWorkspace(database);
  await makeConfiguration(database.pool, workspaceId, { url: `http://127.0.0.1:${raw.port}/` });
  const emit = (count: number) =>
    emitEvents(
      database.pool,
      workspaceId,
      Array.from({ length: count }, () => contactEvent()),
    );
  /** The `webhook-id` of every request, in the order of arrival. */
  const eventIds = () =>
    raw.connections.flatMap((text) => /^webhook-id: (.+)$/im.exec(text)?.[1]?.trim() ?? []);
  return { emit, eventIds };
}

interface DeliveryRow {
  readonly id: string;
  readonly event_id: string;
  readonly state: string;
  readonly error_code: string | null;
}
const deliveries = () => query<DeliveryRow>(database, 'SELECT * FROM webhook_delivery ORDER BY id');

const settled = (count: number): Promise<DeliveryRow[]> =>
  vi.waitFor(
    async () => {
      const rows = await deliveries();
      expect(rows.filter(({ state }) => state === 'delivered' || state === 'failed')).toHaveLength(count);
      return rows;
    },
    { timeout: 120_000, interval: 200 },
  );

/** Expires the leases of attempts and starts; the next worker's sweep handles them. */
async function endLeases(): Promise<void> {
  await query(database, `UPDATE webhook_delivery SET sending_until = now() WHERE state = 'sending'`);
  await query(
    database,
    `UPDATE webhook_delivery SET dispatched_at = dispatched_at - interval '1 hour' WHERE state = 'pending'`,
  );
}

it(
  'makes no second request when the worker is killed while the receiver holds the first',
  async () => {
    const { emit, eventIds } = await receiver(() => undefined);
    const worker = await startWorker();
    await emit(1);
    await vi.waitFor(() => expect(eventIds()).toHaveLength(1), { timeout: 90_000 });
    await worker.kill();
    expect((await deliveries()).map(({ state }) => state)).toEqual(['sending']);
    await endLeases();
    await startWorker();
    const [row] = await settled(1);
    expect(row).toMatchObject({ state: 'failed', error_code: 'interrupted' });
    // Temporal runs the lost task again, ten seconds after it was lost; the record keeps it from dialling.
    const { workflow } = temporal.client;
    expect(await workflow.getHandle(webhookDeliveryWorkflowId(row?.id ?? '')).result()).toBe('not pending');
    expect(eventIds()).toHaveLength(1);
  },
  startsOfWorkersMs,
);

it(
  'accounts for every delivery after two kills, none of them made twice',
  async () => {
    const [lives, eventsOfALife] = [2, 20];
    let endOfLife = (_requests: number): void => undefined;
    const { emit, eventIds } = await receiver((socket, number) => {
      // The third request of every dozen never gets its answer.
      if (number % 12 !== 3) socket.end(rawResponse('200 OK'));
      endOfLife(number);
    });
    for (let life = 1; life <= lives; life += 1) {
      const worker = await startWorker();
      const lastRequest = eventIds().length + eventsOfALife / 2;
      const died = new Promise<void>((resolve) => {
        endOfLife = (number) => {
          if (number >= lastRequest) resolve(worker.kill());
        };
      });
      await emit(eventsOfALife);
      await died;
      await endLeases();
    }
    endOfLife = () => undefined;
    await startWorker();
    const rows = await settled(lives * eventsOfALife);
    const received = eventIds();
    expect(new Set(received).size).toBe(received.length);
    const of = (wanted: string) => rows.filter(({ state }) => state === wanted);
    expect(received).toEqual(expect.arrayContaining(of('delivered').map(({ event_id: eventId }) => eventId)));
    const codes = new Set(of('failed').map(({ error_code: code }) => code));
    expect(codes).toContain('interrupted');
    expect([...codes].filter((code) => code !== 'interrupted' && code !== 'timeout')).toEqual([]);
  },
  startsOfWorkersMs,
);
