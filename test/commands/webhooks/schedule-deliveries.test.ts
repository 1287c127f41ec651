import { afterAll, beforeAll, expect, it } from 'vitest';
import { createScheduler, type SchedulerDependencies } from '../../../src/commands/webhooks/webhook-loops.ts';
import { createId } from '../../../src/records/database/uuid-v7.ts';
import { emitEvents, fanOutEvents } from '../../../src/records/webhooks/events.ts';
import { countSchedulers } from '../../../src/records/webhooks/delivery-scheduler.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { contactEvent, makeConfiguration, makeWorkspace } from '../../support/webhook-fixtures.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it('polls every shard before it pauses while a delivery waits, however few shards it polls at a time', async () => {
  const workspaceId = await makeWorkspace(database);
  await makeConfiguration(database.pool, workspaceId);
  await emitEvents(database.pool, workspaceId, [contactEvent()]);
  await fanOutEvents(database.pool, 100);
  // With eight live schedulers a round takes 4 of the 16 shards.
  for (let other = 0; other < 7; other += 1) await countSchedulers(database.pool, createId());

  const started: string[] = [];
  const scheduler = createScheduler({
    config: {
      webhookExpiryHours: 24,
      webhookShards: 16,
      webhookStarts: 16,
      webhookSlots: 100,
      webhookSlotsPerEndpoint: 10,
    },
    database: database.pool,
    logger: { warn: () => undefined },
    orchestrator: {
      startWebhookDelivery: async (id: string) => {
        started.push(id);
        return 'started';
      },
    },
  } as unknown as SchedulerDependencies);
  await scheduler.heartbeat();
  let polls = 1;
  while ((await scheduler.poll()) === true) polls += 1;
  await scheduler.stop();
  expect(started).toHaveLength(1);
  expect(polls).toBeLessThanOrEqual(8);
});
