/**
 * The processes of the callback benchmark, forked from this file: the API as it runs in production, the worker that applies
 * callbacks, and the bare server to compare with (Koa, the body read, one grouped INSERT).
 */
import { fork, type ChildProcess } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import Koa from 'koa';
import pg from 'pg';
import { createApiServer } from '../../src/api/frame/app.ts';
import { receiveProviderCallback } from '../../src/api/provider-webhook.ts';
import { startApplyingCallbacks } from '../../src/commands/callbacks/apply-provider-callbacks.ts';
import { loadConfig } from '../../src/config.ts';
import { createDependencies } from '../../src/dependencies.ts';
import { benchSecretsKey } from './bench-config.ts';

export const benchAppSecret = 'the app secret of the benchmark';
export type CallbackRole = 'api' | 'bare' | 'worker';

export interface CallbackProcess {
  /** 0 for the worker, which has no HTTP server. */
  readonly port: number;
  readonly stop: () => Promise<void>;
}

export function startCallbackProcess(role: CallbackRole, databaseUrl: string): Promise<CallbackProcess> {
  const child = fork(fileURLToPath(import.meta.url), ['serve', role, databaseUrl]);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`The ${role} ended with exit code ${code}`)));
    child.once('message', (port) => resolve({ port: Number(port), stop: () => stopChild(child) }));
  });
}

function stopChild(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.removeAllListeners('exit');
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}

const dependenciesFor = (databaseUrl: string, service: string) =>
  createDependencies(
    loadConfig({
      DATABASE_URL: databaseUrl,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      PROVIDER_BASE_URL: 'http://127.0.0.1:1/v23.0',
      PROVIDER_APP_SECRET: benchAppSecret,
      PROVIDER_VERIFY_TOKEN: 'the verify token of the benchmark',
      KEY_PEPPER: 'the key pepper of the benchmark',
      SECRETS_KEY: benchSecretsKey,
      LOG_LEVEL: 'fatal',
      LOG_FORMAT: 'json',
    }),
    service,
  );

async function serveApi(databaseUrl: string): Promise<number> {
  const { server } = createApiServer(await dependenciesFor(databaseUrl, 'api'), [receiveProviderCallback]);
  return listen(server);
}

async function work(databaseUrl: string): Promise<number> {
  startApplyingCallbacks(await dependenciesFor(databaseUrl, 'worker'));
  return 0;
}

async function serveBare(databaseUrl: string): Promise<number> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  await pool.query(
    'CREATE TABLE IF NOT EXISTS bare_callback (id bigint GENERATED ALWAYS AS IDENTITY, body bytea)',
  );
  let waiting: { body: Buffer; done: () => void; failed: (error: unknown) => void }[] = [];
  let busy = false;
  const flush = async (): Promise<void> => {
    busy = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await pool.query('INSERT INTO bare_callback (body) SELECT unnest($1::bytea[])', [
          batch.map(({ body }) => body),
        ]);
        for (const { done } of batch) done();
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    busy = false;
  };
  const app = new Koa();
  app.use(async (ctx) => {
    const chunks: Buffer[] = [];
    for await (const chunk of ctx.req) chunks.push(chunk as Buffer);
    await new Promise<void>((done, failed) => {
      waiting.push({ body: Buffer.concat(chunks), done, failed });
      if (!busy) void flush();
    });
    ctx.body = { status: 'success' };
  });
  const handle = app.callback();
  return listen(createServer((request, response) => void handle(request, response)));
}

const roles = { api: serveApi, bare: serveBare, worker: work } as const;

const [mode, role, databaseUrl] = process.argv.slice(2);
if (mode === 'serve' && role !== undefined && databaseUrl !== undefined) {
  process.once('SIGTERM', () => process.exit(0));
  process.once('disconnect', () => process.exit(0));
  process.send?.(await roles[role as CallbackRole](databaseUrl));
}
