/** A Redis of the benchmark's own, with the append-only file that BullMQ's documentation asks for, in a temporary folder. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnChild, waitUntilReady, type ChildSpec } from '../../local/stack/children/child.ts';
import { listenError, pickFreePort } from '../../local/stack/host/free-port.ts';
import { cpuSecondsOf } from './process-cpu.ts';

export interface BenchRedis {
  readonly port: number;
  readonly cpuSeconds: () => number;
  readonly stop: () => Promise<void>;
}

const durable = {
  bind: '127.0.0.1',
  save: '',
  appendonly: 'yes',
  appendfsync: 'everysec',
  'maxmemory-policy': 'noeviction',
};

/** Undefined when there is no redis-server on the PATH. */
export async function startRedis(): Promise<BenchRedis | undefined> {
  if (spawnSync('redis-server', ['--version']).error !== undefined) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'messaging-campaigns-bench-redis-'));
  const port = await pickFreePort('127.0.0.1');
  const spec: ChildSpec = {
    name: 'redis',
    command: 'redis-server',
    args: Object.entries({ ...durable, port: String(port), dir: folder }).flatMap(([name, value]) => [
      `--${name}`,
      value,
    ]),
    environment: process.env,
    cwd: folder,
    output: { kind: 'file', path: join(folder, 'redis.log') },
    watchParent: false,
    isReady: async () => (await listenError('127.0.0.1', port)) === 'EADDRINUSE',
    readyTimeoutMs: 10_000,
    stopSignals: [{ signal: 'SIGTERM', waitMs: 5_000 }],
    explainFailure: (reason) => `redis-server did not start: ${reason}`,
  };
  const server = await spawnChild(spec);
  const stop = async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await waitUntilReady(spec, server);
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, cpuSeconds: () => cpuSecondsOf(server.pid), stop };
}
