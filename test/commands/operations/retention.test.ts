import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import pino from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { deleteExpired } from '../../../src/commands/operations/delete-expired.ts';
import type { Config } from '../../../src/config.ts';
import { emitEvents, fanOutEvents } from '../../../src/records/webhooks/events.ts';
import { createFolderStorage } from '../../../src/storage/folder-storage.ts';
import type { TestDatabase } from '../../support/database.ts';
import { createTestDatabase } from '../../support/database.ts';
import { contactEvent, makeConfiguration, makeWorkspace, query } from '../../support/webhook-fixtures.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it('deletes rows and files older than the limit, in batches, and no others', async () => {
  const workspaceId = await makeWorkspace(database);
  await makeConfiguration(database.pool, workspaceId);
  await emitEvents(
    database.pool,
    workspaceId,
    Array.from({ length: 40 }, () => contactEvent()),
  );
  await fanOutEvents(database.pool, 100);
  await query(database, `UPDATE webhook_delivery SET state = 'delivered'`);
  await query(
    database,
    `UPDATE webhook_delivery SET id = uuidv7(age)
     FROM (SELECT id, CASE WHEN row_number() OVER (ORDER BY id) <= 25 THEN interval '-31 days' ELSE interval '-29 days' END AS age
       FROM webhook_delivery) AS aged WHERE aged.id = webhook_delivery.id`,
  );
  await query(
    database,
    `UPDATE event SET id = uuidv7(age)
     FROM (SELECT id, CASE WHEN row_number() OVER (ORDER BY id) <= 25 THEN interval '-31 days' ELSE interval '-29 days' END AS age
       FROM event) AS aged WHERE aged.id = event.id`,
  );
  await query(
    database,
    `INSERT INTO provider_callback (body, received_at)
     VALUES ('a', now() - interval '31 days'), ('c', now()), ('d', now() - interval '31 days')`,
  );
  await query(
    database,
    `INSERT INTO waiting_callback (id, size) SELECT id, 1 FROM provider_callback WHERE body = 'd'`,
  );
  await query(
    database,
    `INSERT INTO provider_message (hash, recipient_id, day)
     SELECT n, id, current_date - 33 FROM generate_series(1, 30) AS n, uuidv7() AS id, generate_series(1, 1 + (n = 10)::int)
     UNION ALL VALUES (2::bigint, uuidv7(), current_date - 29), (3, uuidv7(), current_date)`,
  );
  let batches = 0;
  const summary = await deleteExpired(
    {
      database: database.pool,
      config: { retentionDays: 30 } as Config,
      storage: createFolderStorage(join(tmpdir(), 'no-such-folder')),
      logger: pino({ level: 'silent' }),
      now: () => new Date(),
    },
    {
      batchSize: 10,
      onBatch: () => {
        batches += 1;
      },
    },
  );
  expect(summary).toEqual({
    days: 0,
    deliveries: 25,
    events: 25,
    feedBatches: 0,
    resends: 0,
    importRows: 0,
    callbacks: 1,
    statuses: 0,
    providerMessages: 31,
    reach: 0,
    notices: 0,
    requests: 0,
    media: 0,
    idempotencyKeys: 0,
    files: 0,
    leftovers: 0,
  });
  expect(batches).toBe(27);
  const [left] = await query<{ events: string; deliveries: string; callbacks: string }>(
    database,
    `SELECT (SELECT count(*) FROM event) AS events, (SELECT count(*) FROM webhook_delivery) AS deliveries,
      (SELECT count(*) FROM provider_callback) AS callbacks`,
  );
  expect(left).toEqual({ events: '15', deliveries: '15', callbacks: '2' });
});

it('removes the other files when one cannot be removed, and fails so that retention tries again', async () => {
  const workspaceId = await makeWorkspace(database);
  const folder = await mkdtemp(join(tmpdir(), 'messaging-campaigns-files-'));
  const storage = createFolderStorage(folder);
  // A folder in place of the file: no storage removes it.
  await mkdir(join(folder, 'csv_stuck.csv'));
  for (const key of ['csv_stuck.csv', 'csv_a.csv', 'csv_b.csv']) {
    await query(
      database,
      `INSERT INTO campaign_file (key, workspace_id, size, headers, created_at)
       VALUES ('${key}', ${workspaceId}, 1, '[]', now() - interval '40 days')`,
    );
  }
  const expired = deleteExpired(
    {
      database: database.pool,
      config: { retentionDays: 30 } as Config,
      storage,
      logger: pino({ level: 'silent' }),
      now: () => new Date(),
    },
    { batchSize: 10, onBatch: () => undefined },
  );
  await expect(expired).rejects.toThrow('csv_stuck.csv');
  expect(await query(database, 'SELECT key FROM campaign_file')).toEqual([{ key: 'csv_stuck.csv' }]);
  await rm(folder, { recursive: true });
});
