/** A Postgres of the benchmark's own, durable as in production (fsync on), in a temporary folder. */
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { spawnChild, waitUntilReady } from '../../local/stack/children/child.ts';
import { pickFreePort } from '../../local/stack/host/free-port.ts';
import { createDatabaseIfMissing, preparePostgres } from '../../local/stack/postgres/server.ts';
import { prepareApplicationRole } from '../../src/records/database/application-role.ts';
import { migrate } from '../../src/records/database/migrate.ts';
import { cpuSecondsOf } from './process-cpu.ts';
import { stopOnSignal } from './stop-on-signal.ts';

export interface BenchPostgres {
  readonly url: string;
  readonly ownerUrl: string;
  /** CPU seconds of the server and of every connection so far; NaN where the system has no /proc. */
  readonly cpuSeconds: () => number;
  readonly stop: () => Promise<void>;
}

export async function startPostgres(): Promise<BenchPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'messaging-campaigns-bench-'));
  const dataDir = join(folder, 'data');
  await mkdir(dataDir);
  const postgres = await preparePostgres({
    dataDir,
    port: await pickFreePort('127.0.0.1'),
    logFile: join(folder, 'postgres.log'),
  });
  const server = await spawnChild(postgres.spec);
  const stop = stopOnSignal(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });
  try {
    await waitUntilReady(postgres.spec, server);
    await createDatabaseIfMissing(postgres);
    await migrate(postgres.ownerUrl, resolve('sql'));
    await prepareApplicationRole(postgres.ownerUrl, postgres.url);
  } catch (error) {
    await stop();
    throw error;
  }
  const pid = Number((await readFile(join(postgres.dataFolder, 'postmaster.pid'), 'utf8')).split('\n')[0]);
  return { url: postgres.url, ownerUrl: postgres.ownerUrl, cpuSeconds: () => cpuSecondsOf(pid), stop };
}
