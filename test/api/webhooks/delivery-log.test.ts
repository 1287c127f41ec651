import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nothing } from '../../../src/records/database/row.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../../support/api.ts';

let api: TestApi;
let workspace: SeededWorkspace;
beforeAll(async () => {
  api = await startTestApi();
  workspace = await api.seedWorkspace();
});
afterAll(() => api.close());

async function aWebhook(): Promise<string> {
  const { body } = await api.send('POST', '/api/external-webhooks', {
    key: workspace.channelKey,
    body: { title: 'Mine', url: 'https://example.com', events: ['sent'] },
  });
  return body.data.id;
}

async function aDelivery(webhookId: string, state: string, errorCode: string | null, eventId = randomUUID()) {
  const run = (statement: ReturnType<typeof sql.fragment>) =>
    api.database.pool.query(sql.type(nothing)`${statement}`);
  await run(sql.fragment`INSERT INTO event (id, workspace_id, key, body, fanned_out_at)
    VALUES (${eventId}, ${workspace.workspaceId}, 'sent', '{}', now()) ON CONFLICT DO NOTHING`);
  await run(sql.fragment`INSERT INTO webhook_delivery (workspace_id, webhook_id, event_id, event_key, state, error_code, cause)
    VALUES (${workspace.workspaceId}, ${webhookId}, ${eventId}, 'sent', ${state}, ${errorCode}, 'resend')`);
  return eventId;
}

const list = async (search: string) => {
  const { body } = await api.send('GET', `/api/external-webhooks/deliveries?${search}`, {
    key: workspace.workspaceKey,
  });
  return body;
};

it('lists the deliveries of all configurations, filtered and in pages', async () => {
  const [one, other] = [await aWebhook(), await aWebhook()];
  await aDelivery(one, 'delivered', null);
  await aDelivery(other, 'failed', 'timeout');
  await aDelivery(one, 'failed', 'non_2xx');
  const states = async (search: string) =>
    (await list(search)).data.map(({ state }: { state: string }) => state);
  expect(await states('')).toEqual(['failed', 'failed', 'delivered']);
  expect(await states('state=failed')).toEqual(['failed', 'failed']);
  expect(await states('state=failed&state=delivered')).toHaveLength(3);
  expect(await states('error_code=timeout')).toEqual(['failed']);
  expect(await states('from=2100-01-01T00:00:00Z')).toEqual([]);
  const first = await list('limit=2');
  const second = await list(`limit=2&cursor=${first.pagination.nextCursor}`);
  expect([...first.data, ...second.data].map(({ state }: { state: string }) => state)).toEqual([
    'failed',
    'failed',
    'delivered',
  ]);
  expect(second.pagination.nextCursor).toBeNull();
});

it('ends a page at 1 MiB', async () => {
  const id = await aWebhook();
  await api.database.pool.query(sql.type(nothing)`
    INSERT INTO webhook_delivery (workspace_id, webhook_id, event_id, event_key, state, response_excerpt)
    SELECT ${workspace.workspaceId}, ${id}, uuidv7(), 'sent', 'delivered', repeat('x', 16384) FROM generate_series(1, 100)`);
  const page = async (cursor = '') =>
    (
      await api.send('GET', `/api/external-webhooks/${id}/deliveries?limit=1000${cursor}`, {
        key: workspace.workspaceKey,
      })
    ).body;
  const first = await page();
  expect(first.data).toHaveLength(64);
  const second = await page(`&cursor=${first.pagination.nextCursor}`);
  expect([second.data.length, second.pagination.nextCursor]).toEqual([36, null]);
});

it('resends once the failed deliveries of each event that was not delivered later', async () => {
  const webhookId = await aWebhook();
  await aDelivery(webhookId, 'failed', 'timeout');
  const twice = await aDelivery(webhookId, 'failed', 'timeout');
  await aDelivery(webhookId, 'failed', 'timeout', twice);
  const mended = await aDelivery(webhookId, 'failed', 'timeout');
  await aDelivery(webhookId, 'delivered', null, mended);
  const span = {
    since: new Date(Date.now() - 60_000).toISOString(),
    until: new Date(Date.now() + 60_000).toISOString(),
  };
  const resend = (body: object) =>
    api.send('POST', `/api/external-webhooks/${webhookId}/resend-failed`, {
      key: workspace.channelKey,
      body,
    });
  expect((await resend(span)).body.data).toEqual({ count: 2 });
  expect((await resend(span)).body.data).toEqual({ count: 0 });
  await api.database.pool.query(sql.type(nothing)`
    WITH made AS (
      INSERT INTO event (workspace_id, key, body, fanned_out_at)
      SELECT ${workspace.workspaceId}, 'sent', '{}', now() FROM generate_series(1, 10005) RETURNING id)
    INSERT INTO webhook_delivery (workspace_id, webhook_id, event_id, event_key, state)
    SELECT ${workspace.workspaceId}, ${webhookId}, id, 'sent', 'failed' FROM made`);
  expect((await resend(span)).body.data).toEqual({ count: 10_000 });
  expect((await resend(span)).body.data).toEqual({ count: 5 });
  expect((await resend({ since: span.until, until: span.since })).status).toBe(400);
});
