/**
 * Attacks by tenants with a key and by strangers without one. Each runs for a given time with a given concurrency, on loopback
 * only.
 */
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import pg from 'pg';
import { Pool } from 'undici';
import { mintApiKey } from '../../../src/domain/workspaces/api-key.ts';

export interface AttackTarget {
  readonly baseUrl: string;
  readonly databaseUrl: string;
  /** API keys of the attacking tenants, four workspaces. */
  readonly keys: readonly string[];
  readonly seconds: number;
}

export interface Attack {
  readonly name: string;
  readonly run: (target: AttackTarget) => Promise<void>;
  /** Limits: the ordinary tenant's p99 for answers and events in ms, and the growth of the API's memory. */
  readonly answerMs: number;
  readonly eventMs: number;
  readonly growthMb: number;
  /** The attack takes minutes and runs only when it is named. */
  readonly apart?: true;
}

/** Loopback address of the attackers, other than the ordinary tenant's: all of 127/8 is loopback. */
const attackersAddress = '127.0.0.2';

interface Request {
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
}

/** Sends `make()` repeatedly, `atATime` requests concurrently, and ignores the answers. */
async function flood(
  { baseUrl, seconds }: AttackTarget,
  atATime: number,
  make: () => Request,
): Promise<void> {
  const pool = new Pool(baseUrl, { connections: atATime, connect: { localAddress: attackersAddress } });
  const until = performance.now() + seconds * 1_000;
  const lane = async (): Promise<void> => {
    while (performance.now() < until) {
      const { method = 'GET', path, headers = {}, body = null } = make();
      const answer = await pool.request({ method, path, headers, body }).catch(() => undefined);
      await answer?.body.dump().catch(() => undefined);
    }
  };
  await Promise.all(Array.from({ length: atATime }, lane));
  await pool.destroy();
}

/** Opens connections that send `text` and nothing more. */
async function hold({ baseUrl, seconds }: AttackTarget, count: number, text: string): Promise<void> {
  const { hostname, port } = new URL(baseUrl);
  const sockets: Socket[] = Array.from({ length: count }, () => {
    const socket = connect({ host: hostname, port: Number(port), localAddress: attackersAddress });
    socket.on('error', () => undefined).pause();
    socket.write(text);
    return socket;
  });
  await sleep(seconds * 1_000);
  for (const socket of sockets) socket.destroy();
}

const first = ({ keys }: AttackTarget): string => keys[0] ?? '';
const json = (key: string) => ({ 'x-api-key': key, 'content-type': 'application/json' });
const values = (count: number): string => `[${'{},'.repeat(count - 1)}{}]`;
const manyValues = gzipSync(`{"phoneNumber":"+4915112345678","extra":${values(349_000)}}`);
const idleValue = `{"name":"s","conditions":[{"field":"email","operator":"exists","value":${values(40_000)}}]}`;
const normal = { answerMs: 500, eventMs: 2_000, growthMb: 150 };

export const attacks: readonly Attack[] = [
  {
    name: 'probes',
    ...normal,
    answerMs: 300,
    run: (target) => flood(target, 200, () => ({ path: '/readyz' })),
  },
  {
    name: 'values in gzip',
    ...normal,
    run: (target) =>
      flood(target, 20, () => ({
        method: 'POST',
        path: '/api/contacts',
        headers: { ...json(first(target)), 'content-encoding': 'gzip' },
        body: manyValues,
      })),
  },
  {
    name: 'values in segments',
    ...normal,
    run: async (target) => {
      await flood({ ...target, seconds: target.seconds / 2 }, 10, () => ({
        method: 'POST',
        path: '/api/segments',
        headers: json(first(target)),
        body: idleValue,
      }));
      await flood({ ...target, seconds: target.seconds / 2 }, 20, () => ({
        path: '/api/segments?limit=100',
        headers: json(first(target)),
      }));
    },
  },
  {
    name: 'guessed keys',
    ...normal,
    run: (target) =>
      flood(target, 100, () => ({ path: '/api/contacts', headers: json(mintApiKey('nobody').apiKey) })),
  },
  {
    name: 'unsigned callbacks',
    ...normal,
    run: (target) =>
      flood(target, 20, () => ({ method: 'POST', path: '/provider/webhook', body: Buffer.alloc(4_000_000) })),
  },
  {
    name: 'half heads',
    ...normal,
    run: (target) => hold(target, 1_500, 'GET / HTTP/1.1\r\nHost: x\r\n'),
  },
  {
    name: 'answers unread',
    ...normal,
    run: (target) => hold(target, 400, 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(8)),
  },
  {
    name: 'bodies unfinished',
    ...normal,
    growthMb: 300,
    run: (target) =>
      hold(
        target,
        400,
        `POST /api/campaigns/auto-trigger HTTP/1.1\r\nHost: x\r\nX-API-Key: ${first(target)}\r\n` +
          `Content-Type: application/json\r\nContent-Length: 30000000\r\n\r\n{"x":"${'x'.repeat(2_000_000)}`,
      ),
  },
  {
    name: 'receivers that begin to hang',
    ...normal,
    eventMs: 800,
    run: hangingReceivers,
  },
  { name: 'a million events', ...normal, apart: true, run: millionEvents },
];

const webhooksEach = 50;

/** Sends as the tenant of `key`. Its subscriptions are removed afterwards; the next round subscribes again. */
function sender(baseUrl: string) {
  const pool = new Pool(baseUrl, { connections: 20 });
  const webhooks = '/api/external-webhooks';
  const subscribed: { readonly key: string; readonly id: string }[] = [];
  const send = async (
    method: 'POST' | 'DELETE',
    key: string,
    path: string,
    body?: object,
  ): Promise<unknown> => {
    const answer = await pool.request({
      method,
      path,
      headers: json(key),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return answer.body.json();
  };
  return {
    post: async (key: string, path: string, body: object): Promise<void> => {
      await send('POST', key, path, body);
    },
    subscribe: async (key: string, url: string): Promise<void> => {
      for (let number = 0; number < webhooksEach; number += 1) {
        const made = await send('POST', key, webhooks, {
          title: 'hostile',
          url,
          events: ['contact.created'],
        });
        subscribed.push({ key, id: (made as { data: { id: string } }).data.id });
      }
    },
    close: async (): Promise<void> => {
      for (const { key, id } of subscribed) await send('DELETE', key, `${webhooks}/${id}`);
      await pool.destroy();
    },
  };
}

/** Calls `answer` for every request. */
async function receiver(answer: (response: ServerResponse) => void) {
  const server: Server = createServer((request, response) => {
    request.resume();
    answer(response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close };
}

/**
 * Fifty configurations per workspace that are known to answer; their receivers stop answering under seven contacts a second.
 */
async function hangingReceivers(target: AttackTarget): Promise<void> {
  let hangs = false;
  let answered = 0;
  const { url, close } = await receiver((response) => {
    if (hangs) return;
    response.writeHead(204).end();
    answered += 1;
  });
  const tenants = sender(target.baseUrl);
  for (const key of target.keys) await tenants.subscribe(key, url);
  const unused = 1_000_000 + (Date.now() % 8_000_000);
  const contacts = (from: number, count: number) =>
    target.keys.flatMap((key) =>
      Array.from({ length: count }, (_, index) =>
        tenants.post(key, '/api/contacts', { phoneNumber: `+49160${unused + from + index}` }),
      ),
    );
  await Promise.all(contacts(0, 2));
  while (answered < 2 * webhooksEach * target.keys.length) await sleep(100);
  hangs = true;
  for (let second = 0; second < target.seconds; second += 1) {
    await Promise.all([...contacts(100 + second * 10, 7), sleep(1_000)]);
  }
  await tenants.close();
  close();
}

/**
 * Inserts a million events of one workspace with fifty configurations directly; through the API it would take a quarter of an
 * hour.
 */
async function millionEvents(target: AttackTarget): Promise<void> {
  const { url, close } = await receiver((response) => response.writeHead(204).end());
  const tenants = sender(target.baseUrl);
  await tenants.subscribe(first(target), url);
  const client = new pg.Client({ connectionString: target.databaseUrl });
  await client.connect();
  await client.query(
    `INSERT INTO event (workspace_id, key, body, occurred_at)
      SELECT workspace_id, 'contact.created', repeat('x', 600), now() FROM webhook_configuration, generate_series(1, 1000000)
      WHERE id = (SELECT id FROM webhook_configuration WHERE url = $1 LIMIT 1)`,
    [url],
  );
  await client.end();
  await sleep(target.seconds * 1_000);
  await tenants.close();
  close();
}
