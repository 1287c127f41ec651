import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withClient } from '../../../local/rehearsals/evidence.ts';
import { pickFreePort } from '../../../local/stack/host/free-port.ts';
import { preparePostgres, type PreparedPostgres } from '../../../local/stack/postgres/server.ts';
import { restoreBaseBackup, takeBaseBackup } from '../../../local/rehearsals/restore/base-backup.ts';
import { createSupervisor } from '../../../local/stack/children/supervisor.ts';

const quiet = { log: () => undefined, onSpawn: () => undefined, onRestart: () => undefined };
const supervisor = createSupervisor(quiet);
let folder: string;
let postgres: PreparedPostgres;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'base-backup-test-'));
  chmodSync(folder, 0o711);
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir);
  postgres = await preparePostgres({
    dataDir,
    port: await pickFreePort('127.0.0.1'),
    logFile: join(folder, 'postgres.log'),
  });
  await supervisor.start(postgres.spec);
});
afterAll(async () => {
  await supervisor.stop();
  rmSync(folder, { recursive: true, force: true });
});

const run = (statement: string) =>
  withClient(postgres.adminUrl, async (client) => (await client.query<{ n: number }>(statement)).rows);

it('takes a server back to the time of the backup, and to nothing later', async () => {
  await run('CREATE TABLE entry AS SELECT n FROM generate_series(1, 5000) AS n');
  const backup = await takeBaseBackup(postgres.adminUrl, postgres.dataFolder);
  await run('INSERT INTO entry SELECT n FROM generate_series(5001, 9000) AS n');
  expect(await run('SELECT count(*)::int AS n FROM entry')).toEqual([{ n: 9000 }]);

  supervisor.kill(['postgres']);
  await supervisor.stop(['postgres']);
  restoreBaseBackup(backup, postgres.dataFolder);
  await supervisor.start(postgres.spec);
  expect(await run('SELECT count(*)::int AS n FROM entry')).toEqual([{ n: 5000 }]);
  expect(backup.at.getTime()).toBeLessThanOrEqual(Date.now());
});
