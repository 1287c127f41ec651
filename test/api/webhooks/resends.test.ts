import { afterAll, beforeAll, expect, it } from 'vitest';
import { emitEvents, fanOutEvents } from '../../../src/records/webhooks/events.ts';
import { continueResend } from '../../../src/records/webhooks/resends.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../../support/api.ts';
import { contactEvent, makeConfiguration, query } from '../../support/webhook-fixtures.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

interface Missed {
  readonly workspace: SeededWorkspace;
  readonly id: string;
  readonly send: (method: string, path?: string, body?: unknown) => ReturnType<TestApi['send']>;
  readonly change: (text: string) => Promise<unknown>;
  readonly waiting: () => Promise<number>;
}

/** A webhook whose deliveries of `count` events failed an hour ago. */
async function missed(count: number): Promise<Missed> {
  const workspace = await api.seedWorkspace();
  const { pool } = api.database;
  const { id } = await makeConfiguration(pool, workspace.workspaceId);
  await emitEvents(pool, workspace.workspaceId, Array.from({ length: count }, contactEvent));
  await fanOutEvents(pool, 10_000);
  const change = (text: string) => query(api.database, text, [id]);
  await change(`UPDATE webhook_delivery SET state = 'failed', error_code = 'timeout', dispatched_at = now(),
    id = uuidv7(interval '-1 hour'), created_at = now() - interval '1 hour' WHERE webhook_id = $1`);
  return {
    workspace,
    id,
    change,
    send: (method, path = '', body) =>
      api.send(method, `/api/external-webhooks/${id}/resend-missed${path}`, {
        key: workspace.channelKey,
        ...(body !== undefined && { body }),
      }),
    waiting: async () =>
      (
        await query(
          api.database,
          `SELECT FROM webhook_delivery WHERE webhook_id = $1 AND state = 'pending'`,
          [id],
        )
      ).length,
  };
}

const since = () => new Date(Date.now() - 7_200_000).toISOString();
const step = (resendId: string) => continueResend(api.database.pool, resendId);

it('resends what failed or expired, and not what was delivered after all', async () => {
  const webhook = await missed(4);
  await webhook.change(`UPDATE webhook_delivery SET error_code = 'expired'
    WHERE id = (SELECT id FROM webhook_delivery WHERE webhook_id = $1 ORDER BY id LIMIT 1)`);
  await webhook.change(`INSERT INTO webhook_delivery (workspace_id, webhook_id, event_id, event_key, cause, state, dispatched_at)
    SELECT workspace_id, webhook_id, event_id, event_key, 'resend', 'delivered', now()
    FROM webhook_delivery WHERE webhook_id = $1 ORDER BY id DESC LIMIT 1`);
  const begun = await webhook.send('POST', '', { since: since() });
  expect(begun).toMatchObject({
    status: 202,
    body: { data: { state: 'running', total: 4, seen: 0, resent: 0 } },
  });
  const { id } = begun.body.data;
  expect(await step(id)).toBe(false);
  const { body } = await webhook.send('GET', `/${id}`);
  expect(body.data).toMatchObject({ state: 'completed', seen: 4, resent: 3, endedAt: expect.any(String) });
  expect(await webhook.waiting()).toBe(3);
  expect((await webhook.send('GET')).body.data).toEqual([body.data]);
});

it('makes no more deliveries than the receiver takes', async () => {
  const webhook = await missed(120);
  const { id } = (await webhook.send('POST', '', { since: since() })).body.data;
  await step(id);
  expect(await webhook.waiting()).toBe(100);
  await step(id);
  expect(await webhook.waiting()).toBe(100);
  // The receiver fails: what was resent is not resent again, and the rest goes out one by one.
  await webhook.change(`UPDATE webhook_delivery SET state = 'failed', error_code = 'timeout', dispatched_at = now()
    WHERE webhook_id = $1 AND state = 'pending'`);
  await webhook.change('UPDATE webhook_configuration SET consecutive_failures = 100 WHERE id = $1');
  await step(id);
  await step(id);
  expect(await webhook.waiting()).toBe(1);
  await webhook.change('UPDATE webhook_configuration SET consecutive_failures = 0 WHERE id = $1');
  await step(id);
  const { body } = await webhook.send('GET', `/${id}`);
  expect(body.data).toMatchObject({ state: 'completed', seen: 120, resent: 120 });
  expect(await webhook.waiting()).toBe(20);
});

it('sends nothing to a webhook that is not active', async () => {
  const webhook = await missed(2);
  await webhook.change(`UPDATE webhook_configuration SET status = 'inactive' WHERE id = $1`);
  expect(await webhook.send('POST', '', { since: since() })).toMatchObject({
    status: 409,
    body: { message: 'The webhook is inactive: set its status to active first' },
  });
  await webhook.change(`UPDATE webhook_configuration SET status = 'active' WHERE id = $1`);
  const { id } = (await webhook.send('POST', '', { since: since() })).body.data;
  await webhook.change(`UPDATE webhook_configuration SET status = 'inactive' WHERE id = $1`);
  expect(await step(id)).toBe(false);
  expect(await webhook.waiting()).toBe(0);
  await webhook.change(`UPDATE webhook_configuration SET status = 'active' WHERE id = $1`);
  await step(id);
  expect(await webhook.waiting()).toBe(2);
});

it('runs one resend of a webhook at a time, and can be cancelled', async () => {
  const webhook = await missed(2);
  const { id } = (await webhook.send('POST', '', { since: since() })).body.data;
  expect((await webhook.send('POST', '', { since: since() })).status).toBe(409);
  expect((await webhook.send('POST', `/${id}/cancel`)).body.data.state).toBe('cancelled');
  expect((await webhook.send('POST', `/${id}/cancel`)).body.data.state).toBe('cancelled');
  expect(await step(id)).toBe(false);
  expect(await webhook.waiting()).toBe(0);
  expect((await webhook.send('POST', '', { since: since() })).status).toBe(202);
  expect(
    (await webhook.send('POST', '', { since: new Date(Date.now() + 60_000).toISOString() })).status,
  ).toBe(400);
});
