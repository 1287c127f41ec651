import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pino } from 'pino';
import { createWebhookActivities } from '../../../src/activities/deliver-webhook.ts';
import type { Dependencies } from '../../../src/dependencies.ts';
import { failedEvent } from '../../../src/domain/callbacks/message-status.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { emitEvents, fanOutEvents } from '../../../src/records/webhooks/events.ts';
import { testSecrets } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { contactEvent, makeConfiguration, makeWorkspace, query } from '../../support/webhook-fixtures.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const failoverMs = 12_000;

it('records the outcome of an attempt although Postgres is unavailable for as long as a failover takes', async () => {
  const workspaceId = await makeWorkspace(database);
  await makeConfiguration(database.pool, workspaceId, { url: 'http://127.0.0.1:9/' });
  await emitEvents(database.pool, workspaceId, [contactEvent()]);
  await fanOutEvents(database.pool, 10);
  const [delivery] = await query<{ id: string }>(database, 'SELECT id FROM webhook_delivery');

  let awayUntil = 0;
  let requests = 0;
  const outbound = {
    postWebhook: async () => {
      requests += 1;
      awayUntil = performance.now() + failoverMs;
      return { state: 'delivered', errorCode: null, responseStatus: 200, responseExcerpt: '', durationMs: 3 };
    },
  } as unknown as Dependencies['outbound'];
  const failing = {
    ...database.pool,
    query: (statement: Parameters<typeof database.pool.query>[0]) =>
      performance.now() < awayUntil
        ? Promise.reject(new Error('Connection terminated'))
        : database.pool.query(statement),
  } as Dependencies['database'];
  const { deliverWebhook } = createWebhookActivities({
    database: failing,
    outbound,
    secrets: testSecrets,
    now: () => new Date(),
    logger: pino({ level: 'silent' }) as unknown as Dependencies['logger'],
    config: { webhookExpiryHours: 24 } as Dependencies['config'],
    metrics: createMetrics('test'),
  });
  expect(await deliverWebhook({ deliveryId: delivery?.id ?? '' })).toBe('delivered');
  const rows = await query<{ state: string }>(database, 'SELECT state FROM webhook_delivery');
  expect(rows).toEqual([{ state: 'delivered' }]);
  expect(requests).toBe(1);
});

it('names the message of an event in the log line of its delivery', async () => {
  const workspaceId = await makeWorkspace(database);
  await makeConfiguration(database.pool, workspaceId, {
    url: 'http://127.0.0.1:9/',
    events: ['failed', 'contact.created'],
  });
  const messageId = randomUUID();
  const message = {
    id: messageId,
    providerMessageId: null,
    to: '4915112345678',
    campaignId: null,
    contactId: null,
    phoneNumberId: '106540352242922',
    source: 'api',
    error: null,
    reason: 'PROVIDER_131026',
    detail: null,
  } as const;
  await emitEvents(database.pool, workspaceId, [failedEvent(message, new Date()), contactEvent()]);
  await fanOutEvents(database.pool, 10);
  const lines: Record<string, unknown>[] = [];
  const { deliverWebhook } = createWebhookActivities({
    database: database.pool,
    outbound: {
      postWebhook: async () => ({
        state: 'delivered',
        errorCode: null,
        responseStatus: 200,
        responseExcerpt: '',
        durationMs: 3,
      }),
    } as unknown as Dependencies['outbound'],
    secrets: testSecrets,
    now: () => new Date(),
    logger: pino(
      {},
      { write: (line) => void lines.push(JSON.parse(line)) },
    ) as unknown as Dependencies['logger'],
    config: { webhookExpiryHours: 24, logSamplePercent: 100 } as Dependencies['config'],
    metrics: createMetrics('test'),
  });
  const deliveries = await query<{ id: string }>(
    database,
    `SELECT id FROM webhook_delivery WHERE state = 'pending'`,
  );
  for (const { id } of deliveries) await deliverWebhook({ deliveryId: id });
  const told = lines
    .filter(({ msg }) => msg === 'delivery')
    .map((line) => [line['eventKey'], line['messageId']]);
  expect(new Map(told as [string, unknown][])).toEqual(
    new Map([
      ['failed', messageId],
      ['contact.created', undefined],
    ]),
  );
});
