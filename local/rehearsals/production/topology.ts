/** The processes of docker-compose.yml with the same environment, without containers: two of each program. */
import { pickFreePorts } from '../../stack/host/free-port.ts';
import { answersOk, nodeChild } from '../../stack/children/node-children.ts';
import type { Progress } from '../../stack/progress.ts';
import { simulatorChild } from '../../stack/children/simulator-child.ts';
import type { Supervisor } from '../../stack/children/supervisor.ts';
import { findTemporalBinary } from '../../stack/temporal/binary.ts';
import type { Environment } from '../../stack/host/user-cache.ts';
import { createAdmin, type Admin } from './admin.ts';
import { startCluster } from './cluster.ts';
import { findClusterBinaries } from './cluster-binaries.ts';
import { startDatabases } from './databases.ts';
import { productionEnvironment } from './environment.ts';

export interface Topology {
  readonly apiUrls: readonly string[];
  /** `/metrics` of every program, by name. */
  readonly metricsUrls: Readonly<Record<string, string>>;
  readonly admin: Admin;
  readonly databaseUrl: string;
  readonly providerUrl: string;
  readonly temporalUiUrl: string;
  readonly temporalNamespace: string;
}

export interface TopologyOptions {
  readonly supervisor: Supervisor;
  readonly progress: Progress;
  /** Empty; everything is kept in it. */
  readonly folder: string;
  readonly environment: Environment;
  readonly onLine: (line: string) => void;
  readonly signal: AbortSignal;
}

const host = '127.0.0.1';
const namespace = 'messaging';
const drainMs = 31_000;
const instances = [1, 2] as const;

export async function startTopology(options: TopologyOptions): Promise<Topology> {
  const { supervisor, progress, folder, environment, signal } = options;
  const binaries = await findClusterBinaries({ environment, progress, signal });
  const cli = await findTemporalBinary({ environment, progress, signal });
  signal.throwIfAborted();

  progress.say('Starting Postgres …');
  const { port, databaseUrl, databaseOwnerUrl, temporalPassword } = await startDatabases(supervisor, folder);
  progress.say('Setting up and starting the Temporal server on it …');
  const cluster = await startCluster({
    supervisor,
    binaries,
    cli,
    postgres: { port, password: temporalPassword },
    namespace,
    folder,
    environment,
    signal,
  });

  const [simulatorPort, ...programPorts] = await pickFreePorts(host, 7);
  const shared = productionEnvironment({
    path: environment['PATH'],
    host,
    folder,
    databaseUrl,
    temporalAddress: cluster.address,
    temporalNamespace: namespace,
    simulatorPort,
  });
  const admin = createAdmin(shared);
  const { applied } = await createAdmin({ ...shared, DATABASE_OWNER_URL: databaseOwnerUrl })('migrate');
  progress.say(`Migrated (${applied}).`);

  const programs = programsOn(programPorts);
  const apiUrl = programs[0]?.url ?? '';
  const output = { kind: 'lines', write: options.onLine } as const;
  await supervisor.start(
    simulatorChild({
      environment: shared,
      port: simulatorPort,
      callbackUrl: `${apiUrl}/provider/webhook`,
      write: options.onLine,
    }),
  );
  progress.say('Starting two API processes and two workers, NODE_ENV=production …');
  await Promise.all(
    programs.map(({ name, entry, url, variables }) =>
      supervisor.start(
        nodeChild({
          name,
          entry,
          environment: { ...shared, ...variables },
          output,
          isReady: () => answersOk(`${url}/readyz`),
          drainMs,
        }),
      ),
    ),
  );
  return {
    apiUrls: programs.filter(({ entry }) => entry === 'src/server.js').map(({ url }) => url),
    metricsUrls: Object.fromEntries(programs.map(({ name, url }) => [name, `${url}/metrics`])),
    admin,
    databaseUrl,
    providerUrl: shared.PROVIDER_BASE_URL,
    temporalUiUrl: cluster.uiUrl,
    temporalNamespace: namespace,
  };
}

function programsOn(ports: readonly number[]) {
  const api = instances.map((nth, index) => ({
    name: `api-${nth}`,
    entry: 'src/server.js',
    url: `http://${host}:${ports[index]}`,
    variables: { PORT: String(ports[index]), DRAIN_DELAY_SECONDS: '5' },
  }));
  const workers = instances.map((nth, index) => ({
    name: `worker-${nth}`,
    entry: 'src/worker.js',
    url: `http://${host}:${ports[index + instances.length]}`,
    variables: { METRICS_PORT: String(ports[index + instances.length]) },
  }));
  return [...api, ...workers];
}
