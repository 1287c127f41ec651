/** The API as it runs in production, in a process of its own forked from this file. Only starts of workflows are faked. */
import { fork, type ChildProcess } from 'node:child_process';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createApiServer } from '../../src/api/frame/app.ts';
import { routes } from '../../src/api/routes.ts';
import { createDependencies } from '../../src/dependencies.ts';
import { benchConfig } from './bench-config.ts';

export interface ApiProcess {
  readonly port: number;
  readonly pid: number;
  /** CPU seconds of the process so far. */
  readonly cpuSeconds: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

const poolSize = 10;

const pageFolder = fileURLToPath(new URL('../../dashboard', import.meta.url));

/** `execArgv`: options for Node, such as `--cpu-prof` for a profile. */
export function startApiProcess(databaseUrl: string, execArgv: readonly string[] = []): Promise<ApiProcess> {
  const child = fork(fileURLToPath(import.meta.url), ['serve', databaseUrl], {
    execArgv: [...process.execArgv, ...execArgv],
    // The API still writes its log lines, to /dev/null, so that logging is part of the cost.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`The API ended with exit code ${code}`)));
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
  return listen(createApiServer({ ...open, orchestrator }, routes, {}, { pageFolder }).server);
}

const [mode, databaseUrl] = process.argv.slice(2);
if (mode === 'serve' && databaseUrl !== undefined) {
  process.once('disconnect', () => process.exit(0));
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.((user + system) / 1_000_000);
  });
  process.send?.(await serveApi(databaseUrl));
}
