import { get, type IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { endpoint } from '../../../src/api/frame/endpoint.ts';
import { healthz, readyz } from '../../../src/api/frame/health.ts';
import { countSegment } from '../../../src/api/segments.ts';
import { aSignal } from '../../support/a-signal.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { echoEndpoints } from '../../support/echo-endpoints.ts';
import { openRaw, sendRaw } from '../../support/raw-request.ts';

let api: TestApi;
let key: string;
afterEach(() => api.close());

const start = async (options: Parameters<typeof startTestApi>[0]) => {
  api = await startTestApi({ endpoints: echoEndpoints, ...options });
  key = (await api.seedWorkspace()).channelKey;
};
const post = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
  api.send('POST', '/api/notes', { key, body, headers });
const gzip = { 'Content-Encoding': 'gzip' };
/** A note with `values` values in all. */
const note = (values: number): string => `{"name":"n","extra":{"of":[${'1,'.repeat(values - 5)}1]}}`;

describe('a body', () => {
  it('of 1 MiB holds 100,000 values, and not one more', async () => {
    await start({});
    expect((await post(note(100_000))).status).toBe(200);
    const refused = await post(note(100_001));
    expect(refused.status).toBe(400);
    expect(refused.body.message).toBe('Request body must not hold more than 100000 values');
  });

  it('costs a token for each 64 KiB it inflates to and each 1,000 values, also when it is refused; an answer to it, for each 16 KiB', async () => {
    await start({ config: { rateLimitPerSecond: 1_000 } });
    const left = async () =>
      Number((await api.send('GET', '/api/notes', { key })).headers.get('ratelimit-remaining'));
    const costOf = async (body: Uint8Array) => {
      // A full bucket, less the token of the request that asks.
      await expect.poll(left).toBe(1_999);
      const beganAt = performance.now();
      const before = await left();
      await post(body, gzip);
      return { cost: before - (await left()), refilled: performance.now() - beganAt };
    };
    const text = await costOf(gzipSync(`{"name":"${'x'.repeat(1_000_000)}"}`));
    expect(text.cost).toBeLessThanOrEqual(15 + 61 + 2);
    expect(text.cost).toBeGreaterThan(15 + 61 + 2 - 1 - text.refilled);
    const values = await costOf(gzipSync(note(300_000)));
    expect(values.cost).toBeLessThanOrEqual(9 + 100 + 2);
    expect(values.cost).toBeGreaterThan(9 + 100 + 2 - 1 - values.refilled);
  });

  it('that exceeds the memory budget is answered 503, and the next one is taken', async () => {
    await start({ limits: { memoryBytes: 1024 * 1024 } });
    const refused = await post(`{"name":"${'x'.repeat(900_000)}"}`);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await post('{"name":"n"}')).status).toBe(200);
  });
});

it('an answer costs a token for each 64 KiB', async () => {
  const large = endpoint(
    {
      method: 'GET',
      path: '/api/large',
      operationId: 'large',
      summary: 'A large answer',
      tag: 'Operations',
      access: 'workspace',
      responses: { 200: { description: 'Done', content: { 'text/plain': { type: 'string' } } } },
    },
    async () => ({ status: 200, content: 'x'.repeat(1024 * 1024), contentType: 'text/plain' }),
  );
  await start({ endpoints: [large], config: { rateLimitPerSecond: 1 } });
  expect((await api.send('GET', '/api/large', { key })).status).toBe(200);
  const next = await api.send('GET', '/api/large', { key });
  expect(next.status).toBe(429);
  expect(Number(next.headers.get('retry-after'))).toBeGreaterThan(10);
});

describe('connections to Postgres', () => {
  let running = 0;
  let opened: Promise<void>;
  let open: () => void;
  const slow = endpoint(
    {
      method: 'GET',
      path: '/api/slow',
      operationId: 'slow',
      summary: 'Takes its time',
      tag: 'Operations',
      access: 'workspace',
      responses: { 200: { description: 'Done', content: { 'text/plain': { type: 'string' } } } },
    },
    async ({ dependencies }) => {
      await dependencies.database.transaction(async () => {
        running += 1;
        await opened;
        running -= 1;
      });
      return { status: 200, content: 'done', contentType: 'text/plain' };
    },
  );
  beforeEach(() => {
    running = 0;
    [opened, open] = aSignal();
  });
  const flood = (floodKey: string) =>
    Promise.all(Array.from({ length: 9 }, () => api.send('GET', '/api/slow', { key: floodKey })));
  const allDone = Array(9).fill(200);

  it('of one workspace are at most as many as it leaves to others', async () => {
    await start({ endpoints: [...echoEndpoints, slow] });
    const other = await api.seedWorkspace();
    const flooding = flood(key);
    await expect.poll(() => running).toBe(3);
    expect((await api.send('GET', '/api/notes', { key: other.channelKey })).status).toBe(200);
    expect(running).toBe(3);
    open();
    expect((await flooding).map(({ status }) => status)).toEqual(allDone);
  });

  it('are left to a third workspace when two take all that they can get', async () => {
    await start({ endpoints: [...echoEndpoints, slow] });
    const [second, third] = [await api.seedWorkspace(), await api.seedWorkspace()];
    const flooding = [flood(key)];
    await expect.poll(() => running).toBe(3);
    flooding.push(flood(second.channelKey));
    await expect.poll(() => running).toBeGreaterThan(3);
    const answered = api.send('GET', '/api/notes', { key: third.channelKey }).then(({ status }) => status);
    expect(await answered).toBe(200);
    open();
    for (const answers of await Promise.all(flooding))
      expect(answers.map(({ status }) => status)).toEqual(allDone);
  });

  it('are not needed by the readiness check', async () => {
    await start({ endpoints: [...echoEndpoints, readyz] });
    const { database } = api.dependencies;
    const taken = Array.from({ length: 6 }, () =>
      database.transaction(async () => {
        running += 1;
        await opened;
      }),
    );
    await expect.poll(() => running).toBe(6);
    expect((await api.send('GET', '/readyz')).status).toBe(200);
    open();
    await Promise.all(taken);
  });

  it('serve one expensive read of a workspace at a time, a third of them in all, for five seconds', async () => {
    await start({ endpoints: [...echoEndpoints, countSegment] });
    const others = [await api.seedWorkspace(), await api.seedWorkspace()];
    const count = (workspaceKey: string) =>
      api.send('POST', '/api/segments/count', {
        key: workspaceKey,
        body: { conditions: [{ field: 'firstName', operator: 'contains', value: 'x' }] },
      });
    const locker = new pg.Client({ connectionString: api.database.ownerUrl });
    await locker.connect();
    const waitingCounts = async (): Promise<unknown> =>
      (
        await locker.query(
          `SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted AND relation = 'contact'::regclass`,
        )
      ).rows[0]?.count;
    try {
      await locker.query('BEGIN; LOCK TABLE contact');
      const counts = [count(key), count(key), count(key), ...others.map((one) => count(one.workspaceKey))];
      await expect.poll(waitingCounts).toBe(2);
      expect((await api.send('GET', '/api/notes', { key })).status).toBe(200);
      expect(await waitingCounts()).toBe(2);
      expect((await Promise.race(counts)).status).toBe(503);
      await locker.query('COMMIT');
      await Promise.all(counts);
    } finally {
      await locker.end();
    }
    expect((await count(key)).status).toBe(200);
  });
});

describe('a connection', () => {
  const floodParts = 400;
  const flood = endpoint(
    {
      method: 'GET',
      path: '/flood',
      operationId: 'flood',
      summary: 'More than any buffer takes',
      tag: 'Operations',
      access: 'public',
      responses: { 200: { description: 'Flood', content: { 'text/plain': { type: 'string' } } } },
    },
    async () => ({
      status: 200,
      contentType: 'text/plain',
      content: Readable.from(
        (function* () {
          for (let part = 0; part < floodParts; part += 1) yield Buffer.alloc(64 * 1024);
        })(),
        { objectMode: false },
      ),
    }),
  );

  it('is closed when the client reads nothing of an answer, and kept when it reads slowly', async () => {
    await start({ endpoints: [...echoEndpoints, flood], limits: { unreadMs: 1_000 } });
    const [stuck, slow] = [openRaw(api.port), openRaw(api.port)];
    let taken = 0;
    slow.socket.on('data', (text: string) => {
      taken += text.length;
      slow.socket.pause();
      setTimeout(() => slow.socket.resume(), 10);
    });
    for (const { socket } of [stuck, slow])
      socket.write('GET /flood HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    stuck.socket.pause();
    while ((await connections()) > 1) await sleep(50);
    await slow.closed;
    expect(taken).toBeGreaterThan(floodParts * 64 * 1024);
    stuck.socket.destroy();
  });

  it('serves requests that arrive in one piece one after the other', async () => {
    let begun = 0;
    const counted = endpoint({ ...flood.declaration, path: '/counted' }, async (call) => {
      begun += 1;
      return flood.handle(call) as Promise<never>;
    });
    await start({ endpoints: [...echoEndpoints, counted] });
    const { socket, closed } = openRaw(api.port);
    socket.pause();
    socket.write('GET /counted HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(8));
    await expect.poll(() => begun).toBe(1);
    await sleep(200);
    expect(begun).toBe(1);
    socket.destroy();
    const whole = openRaw(api.port);
    whole.socket.write(
      'GET /none HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2) +
        'GET /none HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    );
    expect((await whole.closed).match(/HTTP\/1\.1 404/g)).toHaveLength(3);
    await closed;
  });

  it('serves other connections between the requests that arrive on it in one piece', async () => {
    let begun = 0;
    let begunInOneTurn = 0;
    const quick = endpoint({ ...flood.declaration, path: '/quick' }, async () => {
      begun += 1;
      if (begun === 1) setImmediate(() => (begunInOneTurn = begun));
      return { status: 200, contentType: 'text/plain', content: 'x' };
    });
    await start({ endpoints: [...echoEndpoints, quick] });
    const { socket, closed } = openRaw(api.port);
    socket.write('GET /quick HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100));
    await expect.poll(() => begun).toBe(100);
    expect(begunInOneTurn).toBeLessThan(3);
    socket.destroy();
    await closed;
  });

  it('gets at most 32 MiB of documents at once without a key; other paths and addresses are not limited by it', async () => {
    const page = endpoint({ ...flood.declaration, path: '/page' }, async () => ({
      status: 200,
      contentType: 'text/plain',
      content: Buffer.alloc(1024 * 1024),
      headers: { 'Content-Encoding': 'gzip', 'Cache-Control': 'public' },
    }));
    await start({ endpoints: [...echoEndpoints, page] });
    const beganAt = performance.now();
    let answer = await rawGet('/page');
    expect(answer.headers['content-encoding']).toBe('gzip');
    let taken = 0;
    for (; answer.status === 200; taken += 1) answer = await rawGet('/page');
    expect(taken).toBeGreaterThanOrEqual(32);
    expect(taken).toBeLessThanOrEqual(33 + (8 * (performance.now() - beganAt)) / 1_000);
    // The error has none of the headers that describe the refused page.
    expect(answer).toMatchObject({
      status: 429,
      headers: { 'cache-control': 'no-store', 'retry-after': expect.any(String) },
    });
    expect(answer.headers).not.toHaveProperty('content-encoding');
    expect((await rawGet('/none')).status).toBe(404);
    expect((await rawGet('/page', '127.0.0.9')).status).toBe(200);
  });

  const rawGet = (path: string, localAddress = '127.0.0.1') =>
    new Promise<{ status: number; headers: IncomingHttpHeaders }>((resolve, reject) => {
      get({ port: api.port, host: '127.0.0.1', path, localAddress, agent: false }, (answer) => {
        answer.resume();
        answer.once('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers }));
      }).once('error', reject);
    });

  it('is closed when its address already has half of the allowed connections', async () => {
    await start({ limits: { connections: 6 } });
    const idle = Array.from({ length: 3 }, () => openRaw(api.port));
    for (const { socket } of idle) socket.write('GET /none HTTP/1.1\r\nHost: x\r\n\r\n');
    await Promise.all(idle.map(({ socket }) => new Promise((done) => socket.once('data', done))));
    const refused = openRaw(api.port);
    expect(await refused.closed).toBe('');
    idle[0]?.socket.destroy();
    await idle[0]?.closed;
    await expect.poll(connections).toBe(2);
    const next = openRaw(api.port);
    next.socket.write('GET /none HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(await next.closed).toContain('404');
  });

  it('beyond the limit is answered 503 and closed, except for the probes', async () => {
    await start({
      endpoints: [...echoEndpoints, healthz],
      limits: { connections: 4 },
      config: { trustedProxies: ['127.0.0.0/8'] },
    });
    const held = await holdOpen(4);
    const refused = await sendRaw(
      api.port,
      `GET /api/notes HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`,
    );
    expect(refused.status).toBe(503);
    expect(refused.headers).toMatch(/retry-after: 1/i);
    expect(JSON.parse(refused.body)).toMatchObject({ status: 'error', code: 503, error_code: 'unavailable' });
    expect((await sendRaw(api.port, 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')).status).toBe(200);
    for (const socket of held) socket.destroy();
    await expect.poll(connections).toBe(0);
    expect((await api.send('GET', '/api/notes', { key })).status).toBe(200);
  });

  it('beyond the limit that sends nothing is closed after a second', async () => {
    await start({ limits: { connections: 4 }, config: { trustedProxies: ['127.0.0.0/8'] } });
    const held = await holdOpen(4);
    const silent = openRaw(api.port);
    expect(await silent.closed).toBe('');
    expect(await connections()).toBe(4);
    for (const socket of held) socket.destroy();
  });

  /** Connections that wait for an answer, so that they are not idle. */
  const holdOpen = async (count: number): Promise<readonly Socket[]> => {
    const open = Array.from({ length: count }, () => openRaw(api.port).socket);
    for (const socket of open)
      socket.write(
        `POST /api/notes HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n`,
      );
    await expect.poll(connections).toBe(count);
    return open;
  };

  const connections = () =>
    new Promise<number>((resolve, reject) => {
      api.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
    });
});
