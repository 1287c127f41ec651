/** A Temporal cluster on Postgres with its Web UI, set up by the very scripts that docker-compose.yml runs. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { ChildSpec } from '../../stack/children/child.ts';
import { pickFreePorts } from '../../stack/host/free-port.ts';
import { answersOk, listens } from '../../stack/children/node-children.ts';
import { runTool } from '../../stack/host/run-tool.ts';
import { StackError } from '../../stack/error.ts';
import type { Supervisor } from '../../stack/children/supervisor.ts';
import type { Environment } from '../../stack/host/user-cache.ts';
import type { ClusterBinaries } from './cluster-binaries.ts';

export interface ClusterOptions {
  readonly supervisor: Supervisor;
  readonly binaries: ClusterBinaries;
  /** The `temporal` command, for the namespace. */
  readonly cli: string;
  readonly postgres: { readonly port: number; readonly password: string };
  readonly namespace: string;
  /** For configuration and logs. */
  readonly folder: string;
  readonly environment: Environment;
  readonly signal: AbortSignal;
}

export interface Cluster {
  readonly address: string;
  readonly uiUrl: string;
}

const host = '127.0.0.1';
const user = 'temporal';
// NUM_HISTORY_SHARDS of docker-compose.yml. The number of shards cannot change after the first start.
export const historyShards = '512';
/** GOMEMLIMIT of the Temporal server, as in docker-compose.yml. */
export const serverMemory = '1GiB';

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { supervisor } = options;
  await setUpSchema(options);
  const ports = await pickPorts();
  const address = `${host}:${ports.grpc}`;
  await supervisor.start(serverSpec(options, ports));
  await setUpNamespace(options, address);
  await supervisor.start(uiSpec(options, { address, port: ports.ui }));
  return { address, uiUrl: `http://${host}:${ports.ui}` };
}

type SetUp = Omit<ClusterOptions, 'supervisor'>;

export function setUpSchema({ binaries, postgres, environment, signal }: SetUp): Promise<void> {
  const variables = {
    PATH: environment['PATH'],
    TEMPORAL_SQL_TOOL: binaries.sqlTool,
    POSTGRES_HOST: host,
    POSTGRES_PORT: String(postgres.port),
    SQL_PASSWORD: postgres.password,
  };
  return runScript('set-up-schema.sh', variables, signal);
}

export function setUpNamespace(
  { cli, namespace, folder, environment, signal }: SetUp,
  address: string,
): Promise<void> {
  const variables = {
    PATH: `${dirname(cli)}:${environment['PATH'] ?? ''}`,
    HOME: folder,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
  };
  return runScript('set-up-namespace.sh', variables, signal);
}

/** Runs a script of ops/ from the source tree; the compiled program lies in dist/. */
async function runScript(name: string, environment: Environment, signal: AbortSignal): Promise<void> {
  const script = resolve('ops/temporal', name);
  const { succeeded, tail } = await runTool({ command: '/bin/sh', args: [script], environment, signal });
  if (!succeeded) throw new StackError(`${name} failed: ${tail.slice(-3).join(' | ')}`);
}

const portNames = [
  'grpc',
  'http',
  'frontendMembership',
  'matching',
  'matchingMembership',
  'history',
  'historyMembership',
  'worker',
  'workerMembership',
  'metrics',
  'ui',
] as const;
type Ports = Readonly<Record<(typeof portNames)[number], number>>;

async function pickPorts(): Promise<Ports> {
  const ports = await pickFreePorts(host, portNames.length);
  return Object.fromEntries(portNames.map((name, index) => [name, ports[index]])) as Ports;
}

function serverSpec({ binaries, postgres, folder, environment }: ClusterOptions, ports: Ports): ChildSpec {
  const log = join(folder, 'temporal.log');
  return {
    name: 'temporal',
    command: binaries.server,
    args: ['start'],
    cwd: folder,
    environment: {
      PATH: environment['PATH'],
      HOME: folder,
      TZ: 'UTC',
      DB: 'postgres12_pgx',
      DB_PORT: String(postgres.port),
      POSTGRES_SEEDS: host,
      POSTGRES_USER: user,
      POSTGRES_PWD: postgres.password,
      NUM_HISTORY_SHARDS: historyShards,
      BIND_ON_IP: host,
      DYNAMIC_CONFIG_FILE_PATH: resolve('ops/temporal/dynamic-config.yaml'),
      PROMETHEUS_ENDPOINT: `${host}:${ports.metrics}`,
      LOG_LEVEL: 'warn',
      GOMEMLIMIT: serverMemory,
      FRONTEND_GRPC_PORT: String(ports.grpc),
      FRONTEND_HTTP_PORT: String(ports.http),
      FRONTEND_MEMBERSHIP_PORT: String(ports.frontendMembership),
      MATCHING_GRPC_PORT: String(ports.matching),
      MATCHING_MEMBERSHIP_PORT: String(ports.matchingMembership),
      HISTORY_GRPC_PORT: String(ports.history),
      HISTORY_MEMBERSHIP_PORT: String(ports.historyMembership),
      WORKER_GRPC_PORT: String(ports.worker),
      WORKER_MEMBERSHIP_PORT: String(ports.workerMembership),
    },
    output: { kind: 'file', path: log },
    watchParent: false,
    isReady: () => listens(ports.grpc),
    readyTimeoutMs: 120_000,
    stopSignals: [{ signal: 'SIGTERM', waitMs: 20_000 }],
    explainFailure: (reason) => `The Temporal server did not start (${reason}): its log is ${log}.`,
  };
}

function uiSpec(
  { binaries, folder, namespace, environment }: ClusterOptions,
  { address, port }: { readonly address: string; readonly port: number },
): ChildSpec {
  mkdirSync(join(folder, 'ui'), { recursive: true });
  const settings = { temporalGrpcAddress: address, host, port, enableUi: true, defaultNamespace: namespace };
  const lines = Object.entries(settings).map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`);
  writeFileSync(join(folder, 'ui', 'production.yaml'), lines.join(''));
  const log = join(folder, 'temporal-ui.log');
  return {
    name: 'temporal-ui',
    command: binaries.ui,
    args: ['--root', folder, '--config', 'ui', '--env', 'production', 'start'],
    cwd: folder,
    environment: { PATH: environment['PATH'], HOME: folder },
    output: { kind: 'file', path: log },
    watchParent: false,
    isReady: () => answersOk(`http://${host}:${port}/`),
    readyTimeoutMs: 30_000,
    stopSignals: [{ signal: 'SIGTERM', waitMs: 5_000 }],
    explainFailure: (reason) => `The Web UI of Temporal did not start (${reason}): its log is ${log}.`,
  };
}
