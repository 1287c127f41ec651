/**
 * The two servers of the API benchmark, each in a process of its own, forked from this file: the API as it runs in
 * production (Temporal alone is stood in for), and the bare server to compare with: Koa, the body read and parsed, one
 * INSERT for every request.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import Koa from 'koa';
import pg from 'pg';
import { createApiServer } from '../../src/api/frame/app.ts';
import { routes } from '../../src/api/routes.ts';
import { createDependencies } from '../../src/dependencies.ts';
import { benchConfig } from './bench-config.ts';

export type ApiRole = 'api' | 'bare';

export interface ApiProcess {
  readonly port: number;
  readonly pid: number;
  /** CPU seconds of the process so far. */
  readonly cpuSeconds: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

/** Connections of the API's pool and of the bare server's. */
const poolSize = 10;

const pageFolder = fileURLToPath(new URL('../../dashboard', import.meta.url));

/** `execArgv`: for a profile. */
export function startApiProcess(
  role: ApiRole,
  databaseUrl: string,
  execArgv: readonly string[] = [],
): Promise<ApiProcess> {
  const child = fork(fileURLToPath(import.meta.url), ['serve', role, databaseUrl], {
    execArgv: [...process.execArgv, ...execArgv],
    // The API writes its log lines to a closed stream, so that logging is part of the cost.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`The ${role} ended with exit code ${code}`)));
    child.once('message', (port) =>
      resolve({
        port: Number(port),
        pid: child.pid ?? 0,
        cpuSeconds: () => askForCpu(child),
        stop: () => stopChild(child),
      }),
    );
  });
}

function askForCpu(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once('message', (seconds) => resolve(Number(seconds)));
    child.send('cpu');
  });
}

function stopChild(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.removeAllListeners('exit');
    child.once('exit', () => resolve());
    child.disconnect();
  });
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}

async function serveApi(databaseUrl: string): Promise<number> {
  const open = await createDependencies(
    benchConfig(databaseUrl, {
      DATABASE_POOL_SIZE: String(poolSize),
      RATE_LIMIT_PER_SECOND: '1000000',
      LOG_LEVEL: 'info',
    }),
    'api',
  );
  const orchestrator = { ...open.orchestrator, startCampaign: async () => undefined };
  return listen(createApiServer({ ...open, orchestrator }, routes, {}, pageFolder).server);
}

async function serveBare(databaseUrl: string): Promise<number> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: poolSize });
  await pool.query(
    'CREATE TABLE bare_request (id uuid PRIMARY KEY DEFAULT uuidv7(), path text NOT NULL, body jsonb NOT NULL)',
  );
  const app = new Koa();
  app.use(async (ctx) => {
    const chunks: Buffer[] = [];
    for await (const chunk of ctx.req) chunks.push(chunk as Buffer);
    const body: unknown = chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString());
    const { rows } = await pool.query<{ id: string }>(
      'INSERT INTO bare_request (path, body) VALUES ($1, $2) RETURNING id',
      [ctx.path, JSON.stringify(body)],
    );
    ctx.status = 201;
    ctx.body = { status: 'success', data: { id: rows[0]?.id } };
  });
  const handle = app.callback();
  return listen(createServer((request, response) => void handle(request, response)));
}

const roles = { api: serveApi, bare: serveBare } as const;

const [mode, role, databaseUrl] = process.argv.slice(2);
if (mode === 'serve' && role !== undefined && databaseUrl !== undefined) {
  process.once('disconnect', () => process.exit(0));
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.((user + system) / 1_000_000);
  });
  process.send?.(await roles[role as ApiRole](databaseUrl));
}
