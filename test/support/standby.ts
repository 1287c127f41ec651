/** A Postgres of a test's own with a streaming standby. */
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { takeBaseBackup } from '../../local/rehearsals/restore/base-backup.ts';
import { createSupervisor } from '../../local/stack/children/supervisor.ts';
import { pickFreePorts } from '../../local/stack/host/free-port.ts';
import {
  createDatabaseIfMissing,
  preparePostgres,
  type PreparedPostgres,
} from '../../local/stack/postgres/server.ts';
import { prepareApplicationRole } from '../../src/records/database/application-role.ts';
import { migrate } from '../../src/records/database/migrate.ts';

export interface PostgresPair {
  readonly primary: PreparedPostgres;
  readonly standby: PreparedPostgres;
  readonly stopStandby: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Both hold the migrated schema. */
export async function startPostgresPair(): Promise<PostgresPair> {
  const folder = mkdtempSync(join(tmpdir(), 'messaging-campaigns-pair-'));
  chmodSync(folder, 0o711);
  const [primaryPort, standbyPort] = await pickFreePorts('127.0.0.1', 2);
  const supervisor = createSupervisor({
    log: () => undefined,
    onSpawn: () => undefined,
    onRestart: () => undefined,
  });
  const prepare = (name: string, port: number, settings: readonly string[]) => {
    const dataDir = join(folder, name);
    mkdirSync(dataDir, { recursive: true });
    return preparePostgres({ dataDir, port, logFile: join(folder, `${name}.log`), settings });
  };
  const primary = await prepare('primary', primaryPort, []);
  await supervisor.start(primary.spec);
  await createDatabaseIfMissing(primary);
  await migrate(primary.ownerUrl, 'sql');
  await prepareApplicationRole(primary.ownerUrl, primary.url);

  const backup = await takeBaseBackup(primary.adminUrl, primary.dataFolder);
  const dataFolder = join(folder, 'standby', basename(primary.dataFolder));
  mkdirSync(join(folder, 'standby'));
  renameSync(backup.folder, dataFolder);
  copyFileSync(`${primary.dataFolder}.password`, `${dataFolder}.password`);
  const signal = join(dataFolder, 'standby.signal');
  writeFileSync(signal, '');
  const { uid, gid } = statSync(primary.dataFolder);
  chownSync(signal, uid, gid);
  const { username, password } = new URL(primary.adminUrl);
  const standby = await prepare('standby', standbyPort, [
    `primary_conninfo=host=127.0.0.1 port=${primaryPort} user=${username} password=${password}`,
  ]);
  await supervisor.start({ ...standby.spec, name: 'standby' });
  return {
    primary,
    standby,
    stopStandby: () => supervisor.stop(['standby']),
    stop: async () => {
      await supervisor.stop(['standby']);
      await supervisor.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
