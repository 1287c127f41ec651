import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { postNotices } from '../../src/commands/operations/post-notices.ts';
import { campaignPaused } from '../../src/domain/operations/notice.ts';
import { insertNotices } from '../../src/records/operations/notices.ts';
import { fanOutEvents } from '../../src/records/webhooks/events.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../support/api.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { query } from '../support/webhook-fixtures.ts';

let api: TestApi;
let receiver: WebhookReceiver;
beforeAll(async () => {
  [api, receiver] = await Promise.all([startTestApi(), startWebhookReceiver()]);
});
afterAll(() => Promise.all([api.close(), receiver.close()]));

const path = '/api/workspace/notice-target';
const put = ({ operatorKey }: SeededWorkspace, body: object, key = operatorKey) =>
  api.send('PUT', path, { key, body });

const notice = ({ workspaceId }: SeededWorkspace, name = 'Spring') =>
  insertNotices(api.database.pool, [
    campaignPaused(
      { id: '0199d6c1-0000-7000-8000-0000000000f1', workspace_id: workspaceId, name },
      'OPERATOR',
    ),
  ]);

it('posts each notice once, signed, and the feed has the same bytes under the same id', async () => {
  const workspace = await api.seedWorkspace();
  expect((await put(workspace, { url: receiver.url, secret: 'secret' }, workspace.channelKey)).status).toBe(
    401,
  );
  expect(await put(workspace, { url: receiver.url, secret: 'secret' })).toMatchObject({
    status: 200,
    body: { data: { url: receiver.url, hasSecret: true, attemptedAt: null } },
  });
  await api.send('PUT', '/api/workspace/event-feed', { key: workspace.operatorKey, body: { enabled: true } });
  await notice(workspace, 'Spring "offer" ü');
  await notice(workspace);
  while (await postNotices(api.dependencies)) await postNotices(api.dependencies);
  expect(receiver.received).toHaveLength(2);
  const [first] = receiver.received;
  if (first === undefined) throw new Error('nothing was received');
  const { headers, body } = first;
  expect(headers).toMatchObject({ 'x-event-key': 'notice', 'x-workspace-id': String(workspace.workspaceId) });
  const signed = `${headers['webhook-id'] as string}.${headers['webhook-timestamp'] as string}.${body.toString()}`;
  expect(headers['webhook-signature']).toBe(
    `v1,${createHmac('sha256', 'secret').update(signed).digest('base64')}`,
  );

  await fanOutEvents(api.database.pool, 100);
  const feed = await api.send('GET', '/api/events?event_key=notice', { key: workspace.channelKey });
  expect(feed.body.data).toHaveLength(2);
  expect(feed.body.data[0].id).toBe(headers['webhook-id']);
  expect(feed.text).toContain(`"body":${body.toString()}}`);
  const listed = await api.send('GET', '/api/notices', { key: workspace.channelKey });
  const { id, kind, subject, message, createdAt } = listed.body.data[1];
  expect(feed.body.data[0]).toMatchObject({
    id,
    body: { eventKey: 'notice', timestamp: createdAt, data: { kind, subject, message } },
  });
  const target = await api.send('GET', path, { key: workspace.channelKey });
  expect(target.body.data).toMatchObject({
    errorCode: null,
    responseStatus: 200,
    attemptedAt: expect.any(String),
  });
});

it('makes one attempt, says why it failed, and stops when the target is removed', async () => {
  const workspace = await api.seedWorkspace();
  const failing = await startWebhookReceiver({ status: 503 });
  try {
    await put(workspace, { url: failing.url });
    await notice(workspace);
    await postNotices(api.dependencies);
    await postNotices(api.dependencies);
    expect(failing.received).toHaveLength(1);
    expect(failing.received[0]?.headers['webhook-signature']).toBeUndefined();
    const { body } = await api.send('GET', path, { key: workspace.workspaceKey });
    expect(body.data).toMatchObject({ hasSecret: false, errorCode: 'non_2xx', responseStatus: 503 });
    await notice(workspace);
    await api.send('DELETE', path, { key: workspace.operatorKey });
    await notice(workspace);
    await postNotices(api.dependencies);
    expect(failing.received).toHaveLength(1);
    expect((await api.send('GET', path, { key: workspace.workspaceKey })).body.data).toBeNull();
    const left = await query(api.database, 'SELECT FROM notice_post WHERE workspace_id = $1', [
      workspace.workspaceId,
    ]);
    expect(left).toEqual([]);
  } finally {
    await failing.close();
  }
});

it('refuses an address that webhooks may not have either', async () => {
  const workspace = await api.seedWorkspace();
  for (const url of ['http://169.254.169.254/', 'ftp://example.com/', 'nonsense'])
    expect(await put(workspace, { url })).toMatchObject({ status: 400, body: { error: [{ field: 'url' }] } });
});
