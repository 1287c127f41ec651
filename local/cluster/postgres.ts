/** A Postgres primary, with two hosts also a synchronous standby, managed by Patroni, which stores the leader in etcd. */
import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { request } from 'undici';
import { answersOk } from '../stack/children/node-children.ts';
import { findRunUser, launchAs } from '../stack/host/run-user.ts';
import type { ChildSpec } from '../stack/children/child.ts';
import type { Hosts } from './product.ts';
import { gatherPrograms, type ClusterPrograms } from './programs.ts';

export interface PostgresNode {
  readonly name: string;
  readonly port: number;
  /** Port of Patroni's REST API, which reports the node's role. */
  readonly restPort: number;
  readonly dataFolder: string;
}

export interface PostgresPair {
  readonly etcd: ChildSpec;
  readonly nodes: readonly PostgresNode[];
  readonly specs: readonly ChildSpec[];
  readonly superuser: { readonly name: string; readonly password: string };
}

const host = '127.0.0.1';
const superuser = 'app';
// Seconds after the primary's last sign of life within which the standby takes over.
const failover = { ttl: 10, loop_wait: 2, retry_timeout: 3, primary_start_timeout: 0 };

export function describePostgres(
  { patroni, etcd, postgres }: Pick<ClusterPrograms, 'patroni' | 'etcd' | 'postgres'>,
  { folder, hosts }: { readonly folder: string; readonly hosts: Hosts },
  ports: readonly [number, number, number, number, number, number],
): PostgresPair {
  const [clientPort, peerPort, ...rest] = ports;
  const user = findRunUser();
  const bin = gatherPrograms(postgres, join(folder, 'postgres-bin'));
  const [password, replication] = [secret(), secret()];
  const nodes = [1, 2].slice(0, hosts).map((nth): PostgresNode => {
    const name = `postgres-${nth}`;
    const [port = 0, restPort = 0] = rest.slice((nth - 1) * 2);
    return { name, port, restPort, dataFolder: join(folder, name, 'data') };
  });

  const specOf = ({ name, port, restPort, dataFolder }: PostgresNode): ChildSpec => {
    const home = join(folder, name);
    const file = join(home, 'patroni.json');
    const authentication = {
      superuser: { username: superuser, password },
      replication: { username: 'replicator', password: replication },
    };
    const settings = {
      scope: 'messaging',
      name,
      restapi: { listen: `${host}:${restPort}`, connect_address: `${host}:${restPort}` },
      etcd3: { host: `${host}:${clientPort}` },
      bootstrap: {
        dcs: {
          ...failover,
          synchronous_mode: true,
          postgresql: {
            // A former primary is copied again: on a lost disk there is nothing to rewind.
            use_pg_rewind: false,
            remove_data_directory_on_diverged_timelines: true,
            parameters: { max_connections: 300, wal_keep_size: '256MB' },
          },
        },
        initdb: [
          { encoding: 'UTF8' },
          { locale: 'C' },
          { 'locale-provider': 'builtin' },
          { 'builtin-locale': 'C.UTF-8' },
        ],
      },
      postgresql: {
        listen: `${host}:${port}`,
        connect_address: `${host}:${port}`,
        data_dir: dataFolder,
        bin_dir: bin,
        custom_conf: resolve('ops/postgres/postgresql.conf'),
        pgpass: join(home, 'pgpass'),
        authentication,
        parameters: { unix_socket_directories: '' },
        pg_hba: [
          `host all all ${host}/32 scram-sha-256`,
          `host replication replicator ${host}/32 scram-sha-256`,
        ],
        basebackup: [{ checkpoint: 'fast' }],
        remove_data_directory_on_rewind_failure: true,
        remove_data_directory_on_diverged_timelines: true,
      },
    };
    mkdirSync(home, { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify(settings), { mode: 0o600 });
    if (user !== undefined) for (const path of [home, file]) chownSync(path, user.uid, user.gid);
    return {
      ...launchAs(user, { command: patroni, args: [file], paths: [file, ...postgres, resolve('ops')] }),
      name,
      cwd: '/',
      environment: { PATH: '/usr/bin:/bin', HOME: home, LC_ALL: 'C.UTF-8', TZ: 'UTC' },
      output: { kind: 'file', path: join(folder, `${name}.log`) },
      watchParent: false,
      isReady: () => answersOk(`http://${host}:${restPort}/health`),
      readyTimeoutMs: 120_000,
      stopSignals: [{ signal: 'SIGTERM', waitMs: 20_000 }],
      explainFailure: (reason) => `Patroni did not start ${name} (${reason}): its log is ${name}.log.`,
    };
  };

  return {
    etcd: etcdSpec(etcd, folder, { clientPort, peerPort }),
    nodes,
    specs: nodes.map(specOf),
    superuser: { name: superuser, password },
  };
}

function etcdSpec(
  command: string,
  folder: string,
  { clientPort, peerPort }: { readonly clientPort: number; readonly peerPort: number },
): ChildSpec {
  const [client, peer] = [`http://${host}:${clientPort}`, `http://${host}:${peerPort}`];
  const settings = {
    name: 'etcd',
    'data-dir': join(folder, 'etcd'),
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `etcd=${peer}`,
  };
  return {
    name: 'etcd',
    command,
    args: Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
    environment: { PATH: '/usr/bin:/bin' },
    cwd: '/',
    output: { kind: 'file', path: join(folder, 'etcd.log') },
    watchParent: false,
    isReady: () => answersOk(`${client}/health`),
    readyTimeoutMs: 30_000,
    stopSignals: [{ signal: 'SIGTERM', waitMs: 5_000 }],
    explainFailure: (reason) => `etcd did not start (${reason}).`,
  };
}

/** Returns the primary, and whether the other node is its synchronous standby. */
export async function readPair(
  nodes: readonly PostgresNode[],
): Promise<{ readonly primary: PostgresNode | undefined; readonly whole: boolean }> {
  const [primary, standby] = await Promise.all([
    Promise.all(nodes.map((node) => says(node, 'primary'))),
    Promise.all(nodes.map((node) => says(node, 'synchronous'))),
  ]);
  return {
    primary: nodes[primary.indexOf(true)],
    whole: primary.includes(true) && (nodes.length === 1 || standby.includes(true)),
  };
}

const says = async ({ restPort }: PostgresNode, what: string): Promise<boolean> => {
  try {
    const { statusCode, body } = await request(`http://${host}:${restPort}/${what}`, {
      headersTimeout: 2_000,
    });
    await body.dump();
    return statusCode === 200;
  } catch {
    return false;
  }
};

/** Process id of the Postgres server, which is not Patroni's child process. */
export const serverPid = ({ dataFolder }: PostgresNode): number =>
  Number(readFileSync(join(dataFolder, 'postmaster.pid'), 'utf8').split('\n', 1)[0]);

/** Kills the Postgres server, and deletes its data with `withDisk`; its Patroni is killed by the caller. */
export function killServer(node: PostgresNode, withDisk: boolean): void {
  const { dataFolder } = node;
  process.kill(serverPid(node), 'SIGKILL');
  if (withDisk) rmSync(dataFolder, { recursive: true, force: true, maxRetries: 5 });
}

const secret = () => randomBytes(24).toString('hex');
