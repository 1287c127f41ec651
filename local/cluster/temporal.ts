/** Temporal's services as processes of their own: one or two hosts of each that carries load. */
import { dirname, join, resolve } from 'node:path';
import type { ChildSpec } from '../stack/children/child.ts';
import { listens } from '../stack/children/node-children.ts';
import { StackError } from '../stack/error.ts';
import { runTool } from '../stack/host/run-tool.ts';
import type { Environment } from '../stack/host/user-cache.ts';
import type { Hosts } from './product.ts';

export interface TemporalHost {
  readonly name: string;
  readonly grpcPort: number;
  readonly spec: ChildSpec;
}

interface TemporalOptions {
  readonly hosts: Hosts;
  readonly server: string;
  readonly folder: string;
  readonly postgres: { readonly port: number; readonly password: string };
  /** Address of the load balancer in front of the frontends. */
  readonly address: string;
  /** Three ports per host. */
  readonly ports: readonly number[];
}

const host = '127.0.0.1';
// The number cannot be changed later; it is small because one machine runs all shards.
const historyShards = '64';

export const temporalHostsOf = (hosts: Hosts): readonly string[] => [
  ...['frontend', 'history', 'matching'].flatMap((service) =>
    [1, 2].slice(0, hosts).map((nth) => `${service}-${nth}`),
  ),
  'temporal-worker',
];

export function describeTemporal(options: TemporalOptions): readonly TemporalHost[] {
  return temporalHostsOf(options.hosts).map((name, index) => {
    const [grpcPort = 0, membershipPort = 0, httpPort = 0] = options.ports.slice(index * 3);
    return { name, grpcPort, spec: specOf(name, options, { grpcPort, membershipPort, httpPort }) };
  });
}

function specOf(
  name: string,
  { server, folder, postgres, address }: TemporalOptions,
  {
    grpcPort,
    membershipPort,
    httpPort,
  }: Readonly<Record<'grpcPort' | 'membershipPort' | 'httpPort', number>>,
): ChildSpec {
  const service = name.replace('temporal-', '').replace(/-\d$/, '');
  const prefix = service.toUpperCase();
  return {
    name,
    command: server,
    args: ['start', '--service', service],
    cwd: folder,
    environment: {
      PATH: '/usr/bin:/bin',
      HOME: folder,
      TZ: 'UTC',
      DB: 'postgres12_pgx',
      DB_PORT: String(postgres.port),
      POSTGRES_SEEDS: host,
      POSTGRES_USER: 'temporal',
      POSTGRES_PWD: postgres.password,
      SQL_MAX_CONNS: '12',
      SQL_MAX_IDLE_CONNS: '12',
      SQL_VIS_MAX_CONNS: '4',
      SQL_VIS_MAX_IDLE_CONNS: '4',
      NUM_HISTORY_SHARDS: historyShards,
      BIND_ON_IP: host,
      // Every service must register the same cluster address; otherwise services that start together reject each other.
      CLUSTER_RPC_ADDRESS: address,
      CLUSTER_HTTP_ADDRESS: address,
      DYNAMIC_CONFIG_FILE_PATH: resolve('ops/temporal/dynamic-config.yaml'),
      LOG_LEVEL: 'warn',
      GOMEMLIMIT: '512MiB',
      [`${prefix}_GRPC_PORT`]: String(grpcPort),
      [`${prefix}_MEMBERSHIP_PORT`]: String(membershipPort),
      [`${prefix}_HTTP_PORT`]: String(httpPort),
    },
    output: { kind: 'file', path: join(folder, `${name}.log`) },
    watchParent: false,
    isReady: () => listens(service === 'worker' ? membershipPort : grpcPort),
    readyTimeoutMs: 120_000,
    stopSignals: [{ signal: 'SIGTERM', waitMs: 20_000 }],
    explainFailure: (reason) => `${name} of Temporal did not start (${reason}): its log is ${name}.log.`,
  };
}

interface SetUp {
  readonly sqlTool: string;
  /** The `temporal` command. */
  readonly cli: string;
  readonly postgres: { readonly port: number; readonly password: string };
  readonly namespace: string;
  readonly folder: string;
  readonly environment: Environment;
  readonly signal: AbortSignal;
}

export function setUpSchema({ sqlTool, postgres, environment, signal }: SetUp): Promise<void> {
  const variables = {
    PATH: environment['PATH'],
    TEMPORAL_SQL_TOOL: sqlTool,
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

/** Runs the script that docker-compose.yml runs, from the source tree: the compiled program lies in dist/. */
async function runScript(name: string, environment: Environment, signal: AbortSignal): Promise<void> {
  const script = resolve('ops/temporal', name);
  const { succeeded, tail } = await runTool({ command: '/bin/sh', args: [script], environment, signal });
  if (!succeeded) throw new StackError(`${name} failed: ${tail.slice(-3).join(' | ')}`);
}
