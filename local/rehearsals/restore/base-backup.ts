/**
 * Makes a base backup of a running server through Postgres' backup functions, file by file as pg_basebackup does, and
 * restores it.
 */
import { execFile } from 'node:child_process';
import { existsSync, renameSync, rmSync, writeFileSync, statSync, chownSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withClient } from '../evidence.ts';
import { StackError } from '../../stack/error.ts';

const run = promisify(execFile);

export interface BaseBackup {
  readonly folder: string;
  /** The backup contains everything committed before the call. */
  readonly at: Date;
}

export function takeBaseBackup(databaseUrl: string, dataFolder: string): Promise<BaseBackup> {
  const folder = `${dataFolder}.backup`;
  rmSync(folder, { recursive: true, force: true });
  // The backup functions must be called in one session.
  return withClient(databaseUrl, async (client) => {
    await client.query(`SELECT pg_backup_start('drill', true)`);
    await copy(dataFolder, folder);
    for (const name of ['postmaster.pid', 'postmaster.opts']) rmSync(join(folder, name), { force: true });
    const { rows } = await client.query<{ label: string }>(
      'SELECT labelfile AS label FROM pg_backup_stop(false)',
    );
    const at = new Date();
    rmSync(join(folder, 'pg_wal'), { recursive: true, force: true });
    await copy(join(dataFolder, 'pg_wal'), join(folder, 'pg_wal'));
    const label = join(folder, 'backup_label');
    writeFileSync(label, rows[0]?.label ?? '', { mode: 0o600 });
    const { uid, gid } = statSync(dataFolder);
    chownSync(label, uid, gid);
    return { folder, at };
  });
}

/** Replaces the data folder by the backup. The server must be stopped. */
export function restoreBaseBackup({ folder }: BaseBackup, dataFolder: string): void {
  rmSync(dataFolder, { recursive: true, force: true });
  renameSync(folder, dataFolder);
}

/** A running server may remove files during the copy; recovery does not need them. */
async function copy(from: string, to: string): Promise<void> {
  try {
    await run('cp', ['-a', from, to]);
  } catch (error) {
    const complaints = String((error as { stderr?: string }).stderr)
      .trim()
      .split('\n');
    if (complaints.every((line) => line.includes('No such file')) && existsSync(to)) return;
    throw new StackError(`The backup could not be copied: ${complaints[0]}`);
  }
}
