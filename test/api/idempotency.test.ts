import pg from 'pg';
import * as t from 'io-ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endpoint, type Endpoint } from '../../src/api/endpoint.ts';
import { record, succeed } from '../../src/api/envelope.ts';
import { struct } from '../../src/codecs/struct.ts';
import { Invalid } from '../../src/domain/error.ts';
import { insertWorkspace } from '../../src/records/workspaces.ts';
import { deleteExpiredIdempotencyKeys } from '../../src/records/idempotency-keys.ts';
import { sendRaw } from '../support/raw-request.ts';
import { startTestApi, type SeededWorkspace, type TestApi, type TestResponse } from '../support/api.ts';

// Stands for whatever a request creates: the name of a workspace, one row.
const things = { created: 0, providerCalls: 0 };
let gate: Promise<void> = Promise.resolve();
let providerDies = false;

const Thing = struct({ name: t.string });
const shared = {
  method: 'POST',
  tag: 'Things',
  access: 'workspace',
  idempotent: true,
  body: Thing,
  responses: { 200: { description: 'Created', body: record(struct({ id: t.string })) } },
} as const;

const endpoints: readonly Endpoint[] = [
  endpoint(
    { ...shared, path: '/things', operationId: 'createThing', summary: 'One transaction' },
    async ({ dependencies, body, request }) =>
      dependencies.database.transaction(async (transaction) => {
        await request.idempotency.begin(transaction);
        if (body.name === '') throw Invalid.at('name', 'name is required');
        const id = await insertWorkspace(transaction, body.name);
        await gate;
        const answer = { status: 200 as const, body: succeed({ id: String(id) }) };
        await request.idempotency.finish(transaction, answer);
        if (body.name === 'dies') throw new Error('killed before the commit');
        things.created += 1;
        return answer;
      }),
  ),
  endpoint(
    { ...shared, path: '/sends', operationId: 'sendThing', summary: 'Two phases' },
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
  ),
];

let api: TestApi;
let workspace: SeededWorkspace;

beforeAll(async () => {
  api = await startTestApi({ endpoints, config: { providerTimeoutMs: 100 } });
  workspace = await api.seedWorkspace();
});
afterAll(() => api.close());

const post = (path: string, key: string, body: unknown = { name: 'a thing' }) =>
  api.send('POST', path, { key: workspace.channelKey, body, headers: { 'Idempotency-Key': key } });

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

/** Holds every handler at its gate while `work` runs. */
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

describe.each(['/things', '/sends'])('%s', (path) => {
  it('answers a repeated request with the stored response', async () => {
    const key = `repeat ${path}`;
    const first = await post(path, key);
    const before = { ...things };
    const second = await post(path, key);
    expect(second.status).toBe(200);
    expect(second.text).toBe(first.text);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(things).toEqual(before);
  });

  it('refuses the key with another body', async () => {
    const key = `mismatch ${path}`;
    await post(path, key);
    expect((await post(path, key, { name: 'another' })).status).toBe(422);
    expect((await post(path, key, {})).status).toBe(422);
  });

  it('acts once for twenty requests at the same time', async () => {
    const before = things.created + things.providerCalls;
    const responses = await Promise.all(Array.from({ length: 20 }, () => post(path, `crowd ${path}`)));
    expect(things.created + things.providerCalls - before).toBe(1);
    expect(responses.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    expect(responses.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect(new Set(responses.filter(({ status }) => status === 200).map(({ text }) => text)).size).toBe(1);
  });

  it('answers 409 while the first request runs', async () => {
    const key = `running ${path}`;
    const running: Promise<TestResponse>[] = [];
    await whileHeld(async () => {
      const before = things.providerCalls;
      running.push(post(path, key));
      if (path === '/sends') await expect.poll(() => things.providerCalls).toBe(before + 1);
      else
        await expect.poll(() => query(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory'`)).toHaveLength(1);
      expect((await post(path, key)).status).toBe(409);
    });
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200]);
  });

  it('keeps nothing of a refused request', async () => {
    const key = `refused ${path}`;
    const refused = await post(path, key, { name: path === '/things' ? '' : 'refused' });
    expect(refused.status).toBe(400);
    expect((await post(path, key)).status).toBe(200);
  });
});

it('keeps neither the row nor the key when the process dies before the commit', async () => {
  expect((await post('/things', 'dies', { name: 'dies' })).status).toBe(500);
  expect(await query(`SELECT 1 FROM workspace WHERE name = 'dies'`)).toEqual([]);
  expect((await post('/things', 'dies', { name: 'dies' })).status).toBe(500);
});

it('does not act again for a request that died outside the database, and answers from its record', async () => {
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

it('keeps the keys of workspaces and routes apart', async () => {
  const first = await post('/things', 'apart');
  const other = await api.seedWorkspace();
  const second = await api.send('POST', '/things', {
    key: other.channelKey,
    body: { name: 'a thing' },
    headers: { 'Idempotency-Key': 'apart' },
  });
  expect(second.body.data.id).not.toBe(first.body.data.id);
  expect((await post('/sends', 'apart')).headers.get('idempotent-replayed')).toBeNull();
});

it('forgets a key after 24 hours', async () => {
  const first = await post('/things', 'old');
  await query(`UPDATE idempotency_key SET created_at = now() - interval '25 hours' WHERE key = 'old'`);
  const second = await post('/things', 'old', { name: 'new' });
  expect(second.body.data.id).not.toBe(first.body.data.id);
  await query(`UPDATE idempotency_key SET created_at = now() - interval '25 hours' WHERE key = 'old'`);
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
  const request = `POST /things HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-API-Key: ${workspace.channelKey}\r\n${lines}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  expect((await sendRaw(api.port, Buffer.from(request, 'latin1'))).status).toBe(400);
});

it('takes 255 characters', async () => {
  expect((await post('/things', 'x'.repeat(255))).status).toBe(200);
});
