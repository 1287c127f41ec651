import { randomUUID } from 'node:crypto';
import pg from 'pg';
import * as t from 'io-ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCampaign } from '../../../src/api/campaigns/create.ts';
import { endpoint } from '../../../src/api/frame/endpoint.ts';
import { record, succeed } from '../../../src/api/frame/envelope.ts';
import { createSegment } from '../../../src/api/segments.ts';
import { createTag } from '../../../src/api/tags.ts';
import { createWebhook } from '../../../src/api/webhooks/configurations.ts';
import { struct } from '../../../src/codecs/struct.ts';
import { openIdempotency, Replay } from '../../../src/api/frame/idempotency.ts';
import { IdempotencyMismatch, Invalid } from '../../../src/domain/error.ts';
import { deleteExpiredIdempotencyKeys } from '../../../src/records/workspaces/idempotency-keys.ts';
import { sendRaw } from '../../support/raw-request.ts';
import { startTestApi, type SeededWorkspace, type TestApi, type TestResponse } from '../../support/api.ts';

const things = { providerCalls: 0 };
let gate: Promise<void> = Promise.resolve();
let providerDies = false;

const sends = endpoint(
  {
    method: 'POST',
    tag: 'Things',
    access: 'workspace',
    idempotent: true,
    body: struct({ name: t.string }),
    responses: { 200: { description: 'Sent', body: record(struct({ id: t.string })) } },
    path: '/sends',
    operationId: 'sendThing',
    summary: 'Two phases',
  },
  async ({ dependencies: { database }, body, request: { idempotency } }) => {
    const answerOf = (id: string) => ({ status: 200 as const, body: succeed({ id }) });
    if (idempotency.interrupted !== undefined) {
      const answer = answerOf(idempotency.interrupted.resourceId);
      await idempotency.complete(database, answer);
      return answer;
    }
    const id = '0a000000-0000-4000-8000-000000000001';
    await database.transaction((transaction) => idempotency.reserve(transaction, id));
    things.providerCalls += 1;
    await gate;
    if (providerDies) throw new Error('killed during the call');
    if (body.name === 'refused') {
      await idempotency.release(database);
      throw new Invalid('refused');
    }
    const answer = answerOf(id);
    await idempotency.complete(database, answer);
    return answer;
  },
);

let api: TestApi;
let workspace: SeededWorkspace;
let templateId: string;

beforeAll(async () => {
  api = await startTestApi({
    endpoints: [createCampaign, createWebhook, createSegment, createTag, sends],
    config: { providerTimeoutMs: 100 },
  });
  workspace = await api.seedWorkspace();
  templateId = await aTemplate(workspace);
});
afterAll(() => api.close());

async function aTemplate({ workspaceId, businessAccountId }: SeededWorkspace): Promise<string> {
  const id = randomUUID();
  await query(
    `INSERT INTO template (id, workspace_id, business_account_id, provider_template_id, name, language, category, status,
      components) VALUES ($1, $2, $3, 'a template', 'hello', 'en_US', 'UTILITY', 'APPROVED', '[{"type":"BODY","text":"Hi."}]')`,
    [id, workspaceId, businessAccountId],
  );
  return id;
}

const creates = '/api/campaigns/auto-trigger';

const bodyOf = (path: string, name: string) =>
  path === '/sends'
    ? { name }
    : {
        name: name === 'refused' ? '' : name,
        template_id: templateId,
        contact_selection_type: 'all_contacts',
        send_type: 'IMMEDIATE',
      };

const post = (path: string, key: string, name = 'a thing') =>
  api.send('POST', path, {
    key: workspace.channelKey,
    body: bodyOf(path, name),
    headers: { 'Idempotency-Key': key },
  });

/** Counts the effects of a request: calls of the provider, or rows in `campaign`. */
async function effects(): Promise<number> {
  const [row] = await query('SELECT count(*)::int AS n FROM campaign');
  return Number(row?.['n']) + things.providerCalls;
}

async function query(
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: api.database.url });
  await client.connect();
  try {
    return (await client.query(text, [...values])).rows;
  } finally {
    await client.end();
  }
}

/** Holds the provider's answer back while `work` runs. */
async function whileHeld<T>(work: () => Promise<T>): Promise<T> {
  let open = () => undefined as void;
  gate = new Promise((resolve) => (open = resolve));
  try {
    return await work();
  } finally {
    open();
    gate = Promise.resolve();
  }
}

describe.each([creates, '/sends'])('%s', (path) => {
  it('answers a repeated request with the stored response', async () => {
    const key = `repeat ${path}`;
    const first = await post(path, key);
    const before = await effects();
    const second = await post(path, key);
    expect(second.status).toBe(first.status);
    expect(second.text).toBe(first.text);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(await effects()).toBe(before);
  });

  it('refuses the key with another body', async () => {
    const key = `mismatch ${path}`;
    await post(path, key);
    expect((await post(path, key, 'another')).status).toBe(422);
    expect((await post(path, key, 'refused')).status).toBe(422);
  });

  it('executes one of twenty concurrent requests', async () => {
    const before = await effects();
    const responses = await Promise.all(Array.from({ length: 20 }, () => post(path, `crowd ${path}`)));
    expect((await effects()) - before).toBe(1);
    const answered = responses.filter(({ status }) => status !== 409);
    expect(answered.length).toBeGreaterThan(0);
    expect(new Set(answered.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect([200, 201]).toContain(answered[0]?.status);
  });

  it('keeps nothing of a refused request', async () => {
    const key = `refused ${path}`;
    expect((await post(path, key, 'refused')).status).toBe(400);
    expect((await post(path, key)).status).toBeLessThan(300);
  });
});

it.each([
  [
    '/api/external-webhooks',
    'webhook_configuration',
    { title: 'Once', url: 'https://example.com/', events: ['sent'], secret: 'seal' },
  ],
  ['/api/segments', 'segment', { name: 'Once', conditions: [{ field: 'source', operator: 'exists' }] }],
  ['/api/tags', 'tag', { name: 'Once' }],
])('creates one record at %s, however often its request is repeated', async (path, table, body) => {
  const headers = { 'Idempotency-Key': 'once' };
  const send = () => api.send('POST', path, { key: workspace.workspaceKey, body, headers });
  const answers = [await send(), ...(await Promise.all([send(), send()]))];
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(await query(`SELECT count(*)::int AS n FROM ${table}`)).toEqual([{ n: 1 }]);
});

it('answers 409 while the first send runs', async () => {
  const running: Promise<TestResponse>[] = [];
  await whileHeld(async () => {
    const before = things.providerCalls;
    running.push(post('/sends', 'running'));
    await expect.poll(() => things.providerCalls).toBe(before + 1);
    const repeated = await post('/sends', 'running');
    expect(repeated).toMatchObject({ status: 409, body: { error_code: 'idempotency_conflict' } });
  });
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200]);
});

it('answers 409 while another process writes the campaign, and creates it when that one dies', async () => {
  const other = new pg.Client({ connectionString: api.database.url });
  await other.connect();
  await other.query('BEGIN');
  await other.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [
    `${workspace.workspaceId} POST ${creates} elsewhere`,
  ]);
  const before = await effects();
  expect((await post(creates, 'elsewhere')).status).toBe(409);
  expect(await effects()).toBe(before);
  await other.end();
  await expect.poll(async () => (await post(creates, 'elsewhere')).status).toBe(201);
  expect(await effects()).toBe(before + 1);
});

it('does not act again when the process died during the call to the provider, and answers from the record', async () => {
  providerDies = true;
  expect((await post('/sends', 'interrupted')).status).toBe(500);
  providerDies = false;
  expect((await post('/sends', 'interrupted')).status).toBe(409);
  await query(
    `UPDATE idempotency_key SET created_at = now() - interval '1 minute' WHERE key = 'interrupted'`,
  );
  const calls = things.providerCalls;
  const answered = await post('/sends', 'interrupted');
  expect(answered.body.data.id).toBe('0a000000-0000-4000-8000-000000000001');
  expect(things.providerCalls).toBe(calls);
  expect((await post('/sends', 'interrupted')).headers.get('idempotent-replayed')).toBe('true');
});

it('keeps the keys of a channel and of its workspace apart', async () => {
  const send = (key: string) =>
    api.send('POST', '/sends', { key, body: { name: 'a' }, headers: { 'Idempotency-Key': 'channels' } });
  const answers = [await send(workspace.channelKey), await send(workspace.workspaceKey)];
  expect(answers.map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, null]);
  expect((await send(workspace.workspaceKey)).headers.get('idempotent-replayed')).toBe('true');
});

it('keeps the keys of workspaces and routes apart', async () => {
  const first = await post('/sends', 'apart');
  const other = await api.seedWorkspace();
  const second = await api.send('POST', '/sends', {
    key: other.channelKey,
    body: { name: 'another thing' },
    headers: { 'Idempotency-Key': 'apart' },
  });
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(second.headers.get('idempotent-replayed')).toBeNull();
  const created = await post(creates, 'apart');
  expect(created.status).toBe(201);
  expect(created.headers.get('idempotent-replayed')).toBeNull();
});

it.each([creates, '/sends'])('forgets a key of %s after 24 hours', async (path) => {
  const age = () =>
    query(`UPDATE idempotency_key SET created_at = now() - interval '25 hours' WHERE key LIKE 'old POST %'`);
  const key = `old POST ${path}`;
  await post(path, key);
  await age();
  const before = await effects();
  expect((await post(path, key, 'new')).status).toBeLessThan(300);
  expect(await effects()).toBe(before + 1);
  expect((await post(path, key, 'new')).headers.get('idempotent-replayed')).toBe('true');
  await age();
  expect(await deleteExpiredIdempotencyKeys(api.database.pool, 100)).toBe(1);
});

it.each([
  ['empty', ['']],
  ['doubled', ['a', 'b']],
  ['not ASCII', ['schlüssel']],
  ['longer than 255 characters', ['x'.repeat(256)]],
])('refuses a key that is %s', async (_, keys) => {
  const lines = keys.map((key) => `Idempotency-Key: ${key}\r\n`).join('');
  const body = '{"name": "a"}';
  const request = `POST /sends HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-API-Key: ${workspace.channelKey}\r\n${lines}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  expect((await sendRaw(api.port, Buffer.from(request, 'latin1'))).status).toBe(400);
});

it('takes 255 characters', async () => {
  expect((await post('/sends', 'x'.repeat(255))).status).toBe(200);
});

describe('a request that another one of its key overtakes after it was looked up', () => {
  const request = (key: string, body: string) =>
    openIdempotency({
      connection: api.dependencies.database,
      scope: { workspaceId: workspace.workspaceId, channelId: null, route: 'POST /overtaken', key },
      rawBody: Buffer.from(body),
      longestRequestMs: 60_000,
      serialise: async (answer) => ({ status: answer.status, body: JSON.stringify(answer.body) }),
    });
  const store = async ({ storeAnswer }: Awaited<ReturnType<typeof request>>, id: string) =>
    api.dependencies.database.transaction(async (transaction) =>
      storeAnswer?.(transaction, { status: 201, body: { id } }),
    );

  it('gets the answer of the other one', async () => {
    const [slow, fast] = [await request('same', '{}'), await request('same', '{}')];
    await store(fast, 'first');
    await expect(store(slow, 'second')).rejects.toMatchObject({
      constructor: Replay,
      response: { status: 201, body: '{"id":"first"}' },
    });
  });

  it('is refused when its body is another', async () => {
    const [slow, fast] = [await request('other', '{"a":1}'), await request('other', '{}')];
    await store(fast, 'first');
    await expect(store(slow, 'second')).rejects.toThrow(IdempotencyMismatch);
  });
});
