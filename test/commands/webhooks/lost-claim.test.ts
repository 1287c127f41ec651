import { afterAll, beforeAll, expect, it } from 'vitest';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { ConnectionError } from 'slonik';
import { createWebhookActivities } from '../../../src/activities/deliver-webhook.ts';
import type { Dependencies } from '../../../src/dependencies.ts';
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

const deliveries = 40;

it('attempts each delivery once although the answer to its claim was lost, however often it is retried', async () => {
  const workspaceId = await makeWorkspace(database);
  await makeConfiguration(database.pool, workspaceId, { url: 'http://127.0.0.1:9/' });
  await emitEvents(
    database.pool,
    workspaceId,
    Array.from({ length: deliveries }, () => contactEvent()),
  );
  await fanOutEvents(database.pool, deliveries);
  const rows = await query<{ id: string }>(database, 'SELECT id FROM webhook_delivery');
  expect(rows).toHaveLength(deliveries);

  let lost = 0;
  const losing = {
    ...database.pool,
    any: async (statement: Parameters<typeof database.pool.any>[0]) => {
      const answer = await database.pool.any(statement);
      if (lost < 2 && statement.sql.includes("'sending'") && statement.sql.includes('UPDATE')) {
        lost += 1;
        throw new ConnectionError('Connection terminated');
      }
      return answer;
    },
  } as Dependencies['database'];
  const requests: string[] = [];
  const outbound = {
    postWebhook: async ({ headers }: { readonly headers: Record<string, string> }) => {
      requests.push(headers['webhook-id'] ?? '');
      await sleep(200);
      return { state: 'delivered', errorCode: null, responseStatus: 200, responseExcerpt: '', durationMs: 3 };
    },
  } as unknown as Dependencies['outbound'];
  const { deliverWebhook } = createWebhookActivities({
    database: losing,
    outbound,
    secrets: testSecrets,
    now: () => new Date(),
    logger: pino({ level: 'silent' }) as unknown as Dependencies['logger'],
    config: { webhookExpiryHours: 24 } as Dependencies['config'],
    metrics: createMetrics('test'),
  });
  /** As Temporal retries the activity; a retry may run while the attempt before it is still under way. */
  const attempt = async (deliveryId: string): Promise<void> => {
    await deliverWebhook({ deliveryId }).catch(() => attempt(deliveryId));
  };
  await Promise.all(rows.flatMap(({ id }) => [attempt(id), sleep(100).then(() => attempt(id))]));
  expect(requests).toHaveLength(deliveries);
  expect(new Set(requests).size).toBe(deliveries);
  expect(lost).toBe(2);
  const states = await query<{ state: string; count: number }>(
    database,
    'SELECT state, count(*)::int AS count FROM webhook_delivery GROUP BY state',
  );
  expect(states).toEqual([{ state: 'delivered', count: deliveries }]);
});
