import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRetentionActivities } from '../../src/activities/retention.ts';
import { nothing } from '../../src/records/database/row.ts';
import { createArchivist, seedEndedCampaign } from '../support/archive-fixture.ts';
import { rowsOf } from '../support/callback-fixtures.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let fixture: Awaited<ReturnType<typeof createArchivist>>;
beforeAll(async () => {
  database = await createTestDatabase();
  fixture = await createArchivist(database);
});
afterAll(async () => {
  await fixture.end();
  await database.drop();
});

it('archives although a file cannot be deleted, and fails so that it is tried again', async () => {
  const { campaignId, workspaceId } = await seedEndedCampaign(database.pool, { recipients: 5, monthsAgo: 7 });
  // A folder in place of the file: no storage removes it.
  await mkdir(join(fixture.folder, 'csv_stuck.csv'), { recursive: true });
  await database.pool.query(sql.type(nothing)`
    INSERT INTO campaign_file (key, workspace_id, size, headers, created_at)
    VALUES ('csv_stuck.csv', ${workspaceId}, 1, '[]', now() - interval '40 days')`);
  const { archivist } = fixture;
  const config = { ...archivist.config, retentionDays: 30 };
  const { deleteExpired } = createRetentionActivities({ ...archivist, config, now: () => new Date() });
  await expect(new MockActivityEnvironment().run(deleteExpired)).rejects.toThrow('csv_stuck.csv');
  const archived = sql.fragment`SELECT removed_at IS NOT NULL AS removed FROM archive WHERE campaign_id = ${campaignId}`;
  expect(await rowsOf(database.pool, archived)).toEqual([{ removed: true }]);
});
