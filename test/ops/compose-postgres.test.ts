/** Runs, without a container engine, the initdb with which the image of Postgres begins on an empty volume. */
import { spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findRunUser, launchAs } from '../../local/stack/host/run-user.ts';
import { findPostgresBinaries } from '../../local/stack/postgres/binaries.ts';

it('initdb accepts the arguments of docker-compose.yml', () => {
  const given = /POSTGRES_INITDB_ARGS: (.+)/.exec(readFileSync('docker-compose.yml', 'utf8'))?.[1] ?? '';
  const folder = mkdtempSync(join(tmpdir(), 'messaging-campaigns-initdb-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const user = findRunUser();
  if (user !== undefined) chownSync(folder, user.uid, user.gid);

  const initdb = join(findPostgresBinaries().folder, 'initdb');
  const { command, args, uid, gid } = launchAs(user, {
    command: initdb,
    args: ['--no-sync', '--username=postgres', ...given.split(' '), folder],
    paths: [folder, initdb],
  });
  const { status, stderr } = spawnSync(command, [...args], { cwd: '/', encoding: 'utf8', uid, gid });

  expect({ status, errors: stderr.match(/^initdb: error: .*/gm) ?? [] }).toEqual({ status: 0, errors: [] });
});
