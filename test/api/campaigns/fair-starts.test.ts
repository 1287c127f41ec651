/** Many campaigns of one workspace next to those of others: how many there may be, and in which order they start. */
import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startInTurns } from '../../../src/commands/campaigns/deliver-workflow-outbox.ts';
import { deleteStart } from '../../../src/records/campaigns/workflow-outbox.ts';
import { nothing } from '../../../src/records/database/row.ts';
import {
  createIdleOrchestrator,
  startTestApi,
  type SeededWorkspace,
  type TestApi,
} from '../../support/api.ts';

let api: TestApi;
let isAway = false;
const started: string[] = [];
beforeAll(async () => {
  const orchestrator = createIdleOrchestrator({
    refreshCampaign: async (id) => started.includes(id),
    startCampaign: async ({ id }) => {
      if (isAway) throw new Error('Temporal is away');
      started.push(id);
    },
  });
  api = await startTestApi({ dependencies: { orchestrator } });
});
afterAll(() => api.close());
beforeEach(async () => {
  started.splice(0);
  isAway = false;
  await run(sql.fragment`DELETE FROM workflow_outbox`);
});

const run = (statement: ReturnType<typeof sql.fragment>) =>
  api.database.pool.query(sql.type(nothing)`${statement}`);

async function aTenant() {
  const workspace = await api.seedWorkspace();
  const templateId = randomUUID();
  await run(sql.fragment`
    INSERT INTO template (id, workspace_id, business_account_id, provider_template_id, name, language, category, status,
      components)
    VALUES (${templateId}, ${workspace.workspaceId}, ${workspace.businessAccountId}, ${templateId}, 'hello', 'en_US',
      'UTILITY', 'APPROVED', '[{"type":"BODY","text":"Hi."}]')`);
  const request = () =>
    api.send('POST', '/api/campaigns/auto-trigger', {
      key: workspace.channelKey,
      body: {
        name: 'Spring offer',
        template_id: templateId,
        contact_selection_type: 'quick_contacts',
        quick_contacts: ['+4915112345678'],
        send_type: 'SCHEDULED',
        scheduled_at: new Date(Date.now() + 3_600_000).toISOString(),
      },
    });
  const create = async (): Promise<string> => (await request()).body.data.campaign.id;
  const createMany = async (count: number): Promise<readonly string[]> => {
    const ids: string[] = [];
    for (let index = 0; index < count; index += 1) ids.push(await create());
    return ids;
  };
  return { ...workspace, templateId, request, create, createMany };
}

/** Campaigns as rows, the fastest way to have many. */
const insertCampaigns = (
  { workspaceId, channelId }: SeededWorkspace,
  templateId: string,
  { count, preparation }: { readonly count: number; readonly preparation: string },
) =>
  run(sql.fragment`
    INSERT INTO campaign (workspace_id, channel_id, template_id, name, contact_selection_type, audience, send_type,
      scheduled_at, status, preparation_status, created_by)
    SELECT ${workspaceId}, ${channelId}, ${templateId}, 'Test', 'quick_contacts', '{}', 'SCHEDULED', now() + interval '1 day',
      'SCHEDULED', ${preparation}, 'key'
    FROM generate_series(1, ${count})`);

describe('the campaigns of a workspace', () => {
  it('start at once while fewer than eight wait for a worker; the next ones wait for their turn', async () => {
    const [many, other] = [await aTenant(), await aTenant()];
    const ids = await many.createMany(12);
    expect(started).toEqual(ids.slice(0, 8));
    const newcomer = await other.create();
    expect(started.at(-1)).toBe(newcomer);
    expect(await startInTurns(api.dependencies)).toBe(0);
    // A worker begins with two of them.
    for (const id of ids.slice(0, 2)) await deleteStart(api.database.pool, id);
    expect(await startInTurns(api.dependencies)).toBe(2);
    expect(started.slice(-2)).toEqual(ids.slice(8, 10));
  });

  it('start in turns with those of others', async () => {
    const tenants = [await aTenant(), await aTenant(), await aTenant()];
    const ids = [];
    for (const tenant of tenants) ids.push(await tenant.createMany(10));
    await run(sql.fragment`UPDATE workflow_outbox SET started_at = NULL`);
    started.splice(0);
    await startInTurns(api.dependencies);
    expect(started).toHaveLength(24);
    expect(started.slice(0, 6).toSorted()).toEqual(ids.flatMap((own) => own.slice(0, 2)).toSorted());
  });

  it('are started again when no worker has begun with them after five seconds', async () => {
    const tenant = await aTenant();
    isAway = true;
    const id = await tenant.create();
    isAway = false;
    expect(await startInTurns(api.dependencies)).toBe(0);
    await run(sql.fragment`UPDATE workflow_outbox SET started_at = now() - interval '6 seconds'`);
    isAway = true;
    await expect(startInTurns(api.dependencies)).rejects.toThrow('Temporal is away');
    isAway = false;
    await run(sql.fragment`UPDATE workflow_outbox SET started_at = now() - interval '6 seconds'`);
    expect(await startInTurns(api.dependencies)).toBe(1);
    expect(started).toEqual([id]);
  });

  it('do not get a turn early by a change', async () => {
    const tenant = await aTenant();
    const ids = await tenant.createMany(9);
    const last = ids.at(-1) ?? '';
    const { status } = await api.send('PATCH', `/api/campaigns/${last}`, {
      key: tenant.channelKey,
      body: { scheduled_at: new Date(Date.now() + 7_200_000).toISOString() },
    });
    expect(status).toBe(200);
    expect(started).not.toContain(last);
  });

  it('are at most 1,000 in preparation', async () => {
    const [tenant, other] = [await aTenant(), await aTenant()];
    await insertCampaigns(tenant, tenant.templateId, { count: 1_000, preparation: 'PREPARING' });
    const refused = await tenant.request();
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('10');
    expect(refused.body.message).toContain('at most 1000 campaigns in preparation');
    expect((await other.request()).status).toBe(201);
    await run(
      sql.fragment`UPDATE campaign SET preparation_status = 'READY' WHERE workspace_id = ${tenant.workspaceId}`,
    );
    expect((await tenant.request()).status).toBe(201);
  });

  it('are at most 10,000 that are not finished', async () => {
    const tenant = await aTenant();
    await insertCampaigns(tenant, tenant.templateId, { count: 10_000, preparation: 'READY' });
    const refused = await tenant.request();
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('60');
    expect(refused.body.message).toContain('at most 10000 campaigns that are not finished');
    await run(
      sql.fragment`UPDATE campaign SET status = 'COMPLETED' WHERE workspace_id = ${tenant.workspaceId}`,
    );
    expect((await tenant.request()).status).toBe(201);
  });
});
