/** A server in a process of its own gets many bad requests: it answers each of them, and its memory does not grow. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { gzipSync } from 'node:zlib';
import { Pool } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApi, type SeededWorkspace, type TestApi } from '../../support/api.ts';
import { openRaw } from '../../support/raw-request.ts';

let api: TestApi;
let workspace: SeededWorkspace;
let server: ChildProcess;
let port: number;
let pool: Pool;
let lines: Interface;

const tellMemory =
  "process.on('SIGUSR2',()=>{gc();const{heapUsed,rss}=process.memoryUsage();console.log(JSON.stringify({heapUsed,rss}))})";

beforeAll(async () => {
  api = await startTestApi();
  workspace = await api.seedWorkspace();
  const { config } = api.dependencies;
  // On SIGUSR2 the process collects its garbage and prints its memory use. Its heap is small, so that a leak would end it.
  const flags = ['--max-old-space-size=96', '--expose-gc', '--import', `data:text/javascript,${tellMemory}`];
  server = spawn(process.execPath, [...flags, resolve('dist/src/server.js')], {
    env: {
      PORT: '0',
      HOST: '127.0.0.1',
      DATABASE_URL: api.database.url,
      DATA_DIR: config.dataDir,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      PROVIDER_BASE_URL: 'http://127.0.0.1:1/v23.0',
      PROVIDER_APP_SECRET: 'the app secret of the tests',
      PROVIDER_VERIFY_TOKEN: 'the verify token of the tests',
      KEY_PEPPER: 'a key pepper for the tests',
      SECRETS_KEY: 'a secrets key for the tests',
      RATE_LIMIT_PER_SECOND: '100000',
      LOG_FORMAT: 'json',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  lines = createInterface({ input: server.stdout as NodeJS.ReadableStream });
  port = await new Promise((done, failed) => {
    server.once('exit', (code) => failed(new Error(`The server ended with ${code}`)));
    lines.on('line', (line) => {
      const report = JSON.parse(line) as { readonly msg?: string; readonly port?: number };
      if (report.port !== undefined) done(report.port);
    });
  });
  pool = new Pool(`http://127.0.0.1:${port}`, { connections: 16 });
});

afterAll(async () => {
  await pool.destroy();
  server.removeAllListeners('exit');
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  await ended;
  await api.close();
});

interface Bad {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

const creates = '/api/campaigns/auto-trigger';
const large = 200_000;
const fields = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field ${index}`, index]));

/** Returns one bad request of each kind, with values that differ at every call. */
const badOnes = (): readonly Bad[] => [
  { path: creates, body: '['.repeat(10_000) + ']'.repeat(10_000) },
  { path: creates, body: `{"a":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}` },
  { path: creates, body: `{"name":"\\u0000${'x'.repeat(large)}"}` },
  { path: creates, body: `{"name":"\\ud800${'x'.repeat(large)}"}` },
  { path: creates, body: `{"name":"${randomUUID()}","send_type":${'9'.repeat(large)}}` },
  { path: creates, body: '{"name":1e99999,"name":2,"__proto__":{"polluted":true},"constructor":{}}' },
  { path: creates, body: JSON.stringify({ ...fields, name: randomUUID() }) },
  { path: creates, body: `{"quick_contacts":[${'{},'.repeat(large)}{}]}` },
  { path: creates, headers: { 'Idempotency-Key': randomUUID() }, body: '{"name":""}' },
  { path: creates, headers: { 'Content-Type': 'application/json; charset=utf-16' }, body: '{}' },
  { path: creates, headers: { 'Content-Encoding': 'br' }, body: '{}' },
  { path: creates, headers: { 'Content-Encoding': 'gzip' }, body: 'not gzip' },
  {
    path: '/api/tags',
    headers: { 'Content-Encoding': 'gzip' },
    body: gzipSync(Buffer.alloc(8_000_000, 0x20)),
  },
  { path: '/api/tags', headers: { 'X-API-Key': `${randomUUID()}_${randomUUID()}` }, body: '{"name":"a"}' },
  { path: '/api/tags', headers: { 'X-Request-Id': randomUUID() }, body: '{"name":7}' },
  { path: `/api/${randomUUID()}`, body: '{}' },
  { path: `/api/contacts/${randomUUID()}/${randomUUID()}`, body: '{}' },
];

async function sendAll(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const statuses = await Promise.all(
      badOnes().map(async ({ path, headers, body }) => {
        const answer = await pool.request({
          method: 'POST',
          path,
          headers: { 'X-API-Key': workspace.channelKey, 'Content-Type': 'application/json', ...headers },
          body,
        });
        await answer.body.dump();
        return answer.statusCode;
      }),
    );
    expect(statuses.filter((status) => status < 400 || status >= 500)).toEqual([]);
    const { socket, closed } = openRaw(port);
    const head = `POST /api/campaigns/csv-files HTTP/1.1\r\nHost: a\r\nX-API-Key: ${workspace.channelKey}\r\n`;
    const half =
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nphone,country\r\n1,49\r\n';
    socket.write(
      `${head}Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n\r\n${half}`,
    );
    socket.end();
    await closed;
  }
}

/** MiB in use after a collection. */
async function memory(): Promise<{ readonly heap: number; readonly resident: number }> {
  const report = new Promise<string>((done) => {
    const listen = (line: string) => {
      if (!line.startsWith('{"heapUsed"')) return;
      lines.off('line', listen);
      done(line);
    };
    lines.on('line', listen);
  });
  server.kill('SIGUSR2');
  const { heapUsed, rss } = JSON.parse(await report) as { readonly heapUsed: number; readonly rss: number };
  return { heap: heapUsed / 1024 / 1024, resident: rss / 1024 / 1024 };
}

it('a process does not grow under a stream of bad requests', async () => {
  await sendAll(14);
  const early = await memory();
  await sendAll(20);
  const late = await memory();
  expect(early.heap).toBeGreaterThan(0);
  expect(late.heap - early.heap).toBeLessThan(4);
  expect(late.resident - early.resident).toBeLessThan(48);
}, 240_000);
