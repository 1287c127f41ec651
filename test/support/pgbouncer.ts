/** A real PgBouncer in transaction mode in front of a test database. */
import { chownSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnChild, waitUntilReady, type ChildSpec } from '../../local/stack/children/child.ts';
import { pickFreePort } from '../../local/stack/host/free-port.ts';
import { findRunUser, launchAs } from '../../local/stack/host/run-user.ts';
import { findPgbouncer } from './find-pgbouncer.ts';

export interface Pgbouncer {
  /** The database's URL through the pooler. */
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** All clients together share `serverConnections` connections to Postgres. */
export async function startPgbouncer(
  databaseUrl: string,
  { serverConnections }: { serverConnections: number },
): Promise<Pgbouncer> {
  const { hostname, port, username, password } = new URL(databaseUrl);
  const folder = mkdtempSync(join(tmpdir(), 'messaging-campaigns-pgbouncer-'));
  const ini = join(folder, 'pgbouncer.ini');
  const users = join(folder, 'users.txt');
  const log = join(folder, 'log');
  const listenPort = await pickFreePort('127.0.0.1');
  writeFileSync(users, `"${username}" "${password}"\n`);
  writeFileSync(
    ini,
    [
      '[databases]',
      `* = host=${hostname} port=${port}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${listenPort}`,
      'unix_socket_dir =',
      'auth_type = plain',
      `auth_file = ${users}`,
      'pool_mode = transaction',
      `default_pool_size = ${serverConnections}`,
      'max_client_conn = 500',
      '',
    ].join('\n'),
  );
  const user = findRunUser();
  if (user !== undefined) for (const path of [folder, ini, users]) chownSync(path, user.uid, user.gid);
  const spec: ChildSpec = {
    ...launchAs(user, { command: findPgbouncer() ?? 'pgbouncer', args: [ini], paths: [ini] }),
    name: 'pgbouncer',
    cwd: '/',
    environment: {},
    output: { kind: 'file', path: log },
    watchParent: false,
    isReady: () => accepts(listenPort),
    readyTimeoutMs: 60_000,
    stopSignals: [{ signal: 'SIGTERM', waitMs: 5_000 }],
    explainFailure: (reason) => `PgBouncer did not start: ${reason}, see ${log}.`,
  };
  const child = await spawnChild(spec);
  await waitUntilReady(spec, child);
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${listenPort}`;
  return {
    url: url.href,
    stop: async () => {
      await child.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
