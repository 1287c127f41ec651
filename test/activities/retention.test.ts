import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import pino from 'pino';
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRetentionActivities } from '../../src/activities/retention.ts';
import type { Config } from '../../src/config.ts';
import { nothing } from '../../src/records/database/row.ts';
import { createFolderStorage } from '../../src/storage/folder-storage.ts';
import { rowsOf } from '../support/callback-fixtures.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { seedEndedCampaign } from '../support/old-campaigns.ts';

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'messaging-campaigns-retention-'));
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

it('deletes old messages although a file cannot be deleted, and fails so that it is tried again', async () => {
  const { campaignId, workspaceId } = await seedEndedCampaign(database.pool, { recipients: 5, monthsAgo: 7 });
  // A folder in place of the file: no storage removes it.
  await mkdir(join(folder, 'csv_stuck.csv'));
  await database.pool.query(sql.type(nothing)`
    INSERT INTO campaign_file (key, workspace_id, size, headers, created_at)
    VALUES ('csv_stuck.csv', ${workspaceId}, 1, '[]', now() - interval '40 days')`);
  const { deleteExpired } = createRetentionActivities({
    database: database.pool,
    config: { messageRetentionMonths: 6, retentionDays: 30 } as Config,
    storage: createFolderStorage(folder),
    logger: pino({ level: 'silent' }),
    now: () => new Date(),
  });
  await expect(new MockActivityEnvironment().run(deleteExpired)).rejects.toThrow('csv_stuck.csv');
  const left = sql.fragment`SELECT count(*)::int AS count FROM recipient WHERE campaign_id = ${campaignId}`;
  expect(await rowsOf(database.pool, left)).toEqual([{ count: 0 }]);
});
