import { afterAll, beforeAll, expect, it } from 'vitest';
import { scheduleTemplateSyncs } from '../../../src/commands/templates/sync-templates.ts';
import type { Orchestrator } from '../../../src/orchestrator/orchestrator.ts';
import { registerBusinessAccount } from '../../../src/records/workspaces/business-accounts.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { makeWorkspace } from '../../support/webhook-fixtures.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it('reaches every account although Temporal rejects more of them than one poll tries', async () => {
  const workspaceId = await makeWorkspace(database);
  const ids = ['1001', '1002', '1003', '1004', '1005'];
  for (const id of ids) {
    await registerBusinessAccount(database.pool, workspaceId, id);
  }
  const scheduled: string[] = [];
  const scheduleTemplateSync: Orchestrator['scheduleTemplateSync'] = async ({ id }) => {
    if (id <= '1003') throw new Error('refused');
    scheduled.push(id);
  };
  const dependencies = {
    database: database.pool,
    orchestrator: { scheduleTemplateSync } as unknown as Orchestrator,
  };
  const first = await scheduleTemplateSyncs(dependencies);
  expect(first).toMatchObject({ scheduled: 0, lastId: '1003' });
  expect(String(first.failure)).toBe('Error: refused');
  const second = await scheduleTemplateSyncs(dependencies, first.lastId);
  expect(second).toEqual({ scheduled: 2, lastId: '', failure: undefined });
  expect(scheduled).toEqual(['1004', '1005']);
});
