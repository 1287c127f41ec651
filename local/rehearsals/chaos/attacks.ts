/**
 * Attacks by tenants with a key and by strangers without one. Each runs for a given time with a given concurrency, on loopback
 * only.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Pool } from 'undici';
import { mintApiKey } from '../../../src/domain/workspaces/api-key.ts';
import { first, json, type AttackTarget } from './attack-target.ts';
import { hangingReceivers, millionEvents } from './webhook-attacks.ts';

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
