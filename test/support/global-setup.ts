/** One Postgres for the whole run, with a migrated template database that `createTestDatabase` clones. */
import { tryLock } from '#file-lock';
import { mkdtempSync } from 'node:fs';
import { mkdir, readdir, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { spawnChild, waitUntilReady } from '../../local/stack/children/child.ts';
import { pickFreePort } from '../../local/stack/host/free-port.ts';
import { clearPostgresOrphan } from '../../local/stack/postgres/orphan.ts';
import {
  createDatabaseIfMissing,
  preparePostgres,
  type PreparedPostgres,
} from '../../local/stack/postgres/server.ts';
import { prepareApplicationRole } from '../../src/records/database/application-role.ts';
import { migrate } from '../../src/records/database/migrate.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the `postgres` database as its superuser; tests clone `templateDatabase` through it. */
    postgresUrl: string;
    /** URL of the application's database as the application's role; tests replace the name of the database. */
    applicationUrl: string;
    templateDatabase: string;
  }
}

const templateDatabase = 'template_migrated';
const folderPrefix = 'messaging-campaigns-test-';

// Creating the thousand files of a database costs a disk most of a second, and every test file has a database.
const memory = '/dev/shm';
const roomBytes = 4 * 1024 ** 3;

// The data lives for one run, so it need not survive a crash. Connections: every test file has its own pools.
const settings = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=200'];

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await removeKilledRuns();
  const folder = mkdtempSync(join((await hasRoom(memory)) ? memory : tmpdir(), folderPrefix));
  tryLock(join(folder, 'lock'));
  const dataDir = join(folder, 'data');
  await mkdir(dataDir);
  const postgres = await preparePostgres({
    dataDir,
    port: await pickFreePort('127.0.0.1'),
    logFile: join(dataDir, 'postgres.log'),
    settings,
  });
  const server = await spawnChild(postgres.spec);
  const stop = async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await waitUntilReady(postgres.spec, server);
    await createDatabaseIfMissing(postgres);
    await createTemplate(postgres);
  } catch (error) {
    await stop();
    throw error;
  }
  project.provide('postgresUrl', postgres.adminUrl);
  project.provide('applicationUrl', postgres.url);
  project.provide('templateDatabase', templateDatabase);
  return stop;
}

const hasRoom = (place: string): Promise<boolean> =>
  statfs(place).then(
    ({ bavail, bsize }) => bavail * bsize >= roomBytes,
    () => false,
  );

/** A run ended by SIGKILL cannot stop its Postgres; the next run does. */
async function removeKilledRuns(): Promise<void> {
  const names = async (place: string) =>
    (await readdir(place).catch(() => [])).map((name) => join(place, name));
  const folders = [...(await names(tmpdir())), ...(await names(memory))];
  for (const folder of folders.filter((path) => basename(path).startsWith(folderPrefix))) {
    const lock = tryLock(join(folder, 'lock'));
    if (lock.release === undefined) continue;
    const data = await readdir(join(folder, 'data')).catch(() => []);
    for (const name of data.filter((entry) => /^pg\d+$/.test(entry))) {
      await clearPostgresOrphan(join(folder, 'data', name));
    }
    await rm(folder, { recursive: true, force: true });
  }
}

async function createTemplate({ adminUrl, url: applicationUrl }: PreparedPostgres): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  await client.query(`CREATE DATABASE ${templateDatabase}`);
  await client.end();
  const [owner, application] = [new URL(adminUrl), new URL(applicationUrl)];
  owner.pathname = application.pathname = `/${templateDatabase}`;
  const folder = resolve('sql');
  const { applied } = await migrate(owner.href, folder);
  await prepareApplicationRole(owner.href, application.href);
  const files = (await readdir(folder)).filter((name) => name.endsWith('.sql'));
  if (applied.length !== files.length)
    throw new Error(`Only ${applied.length} of ${files.length} migrations ran`);
}
