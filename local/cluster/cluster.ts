/**
 * Starts a cluster on loopback: two of every server that carries load, or one for comparison; one etcd, haproxy and simulator. Each
 * is a process that can be killed alone.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { withClient } from '../rehearsals/evidence.ts';
import { StackError } from '../stack/error.ts';
import { pickFreePorts } from '../stack/host/free-port.ts';
import type { Progress } from '../stack/progress.ts';
import { simulatorChild } from '../stack/children/simulator-child.ts';
import type { ChildSpec } from '../stack/children/child.ts';
import { createSupervisor, type Supervisor } from '../stack/children/supervisor.ts';
import type { Environment } from '../stack/host/user-cache.ts';
import { createAdmin, type Admin } from './admin.ts';
import { createDatabases } from './databases.ts';
import { productionEnvironment } from './environment.ts';
import { describeHaproxy } from './haproxy.ts';
import { describePostgres, killServer, readPair, serverPid, type PostgresPair } from './postgres.ts';
import { apisOf, describeProduct, workersOf, type Hosts } from './product.ts';
import { findPrograms } from './programs.ts';
import { describeTemporal, setUpNamespace, setUpSchema, temporalHostsOf } from './temporal.ts';

export interface Cluster {
  readonly apiUrl: string;
  readonly admin: Admin;
  /** URL through haproxy, with the product's own role. */
  readonly databaseUrl: string;
  readonly providerUrl: string;
  readonly temporalAddress: string;
  /** SIGKILL; the process, or with Postgres the pair of Patroni and server, is away until `revive`. */
  readonly kill: (name: string, options?: { readonly withDisk: boolean }) => { readonly revive: () => void };
  /** By the name of the process; for Postgres the id of the server, not of its Patroni. */
  readonly pids: () => Readonly<Record<string, number>>;
  /** The name of the process that leads Postgres now. */
  readonly primary: () => Promise<string | undefined>;
  /** Resolves when every process runs and Postgres has its synchronous standby. */
  readonly untilWhole: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export interface ClusterOptions {
  /** Instances of each process type that serves load; default two. */
  readonly hosts?: Hosts;
  /** Empty; everything is kept in it. */
  readonly folder: string;
  readonly environment: Environment;
  /** Further settings of the product's processes. */
  readonly settings?: Environment;
  readonly progress: Progress;
  /** Lines of the product's processes. */
  readonly onLine: (line: string) => void;
  readonly signal: AbortSignal;
}

const host = '127.0.0.1';
const namespace = 'messaging';
const wholeLimitMs = 120_000;

/** Throws StackError when something is missing, and leaves no process behind. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { progress, signal } = options;
  const supervisor = createSupervisor({
    log: (line) => progress.say(line),
    onSpawn: () => undefined,
    onRestart: () => undefined,
  });
  const onAbort = () => void supervisor.stop();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await startParts(options, supervisor);
  } catch (error) {
    await stopAll(supervisor);
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

async function startParts(options: ClusterOptions, supervisor: Supervisor): Promise<Cluster> {
  const { hosts = 2, folder, environment, progress, onLine, signal } = options;
  const [apis, temporalHosts] = [apisOf(hosts), temporalHostsOf(hosts)];
  const programs = await findPrograms({ environment, progress, signal });
  const away = new Map<string, Promise<void>>();
  const revivals: (() => void)[] = [];
  const started: string[] = [];
  const start = async (specs: readonly ChildSpec[]): Promise<void> => {
    signal.throwIfAborted();
    started.push(...specs.map(({ name }) => name));
    await Promise.all(
      specs.map((spec) => supervisor.start({ ...spec, beforeStart: async () => away.get(spec.name) })),
    );
  };

  const [entry, frontendEntry, apiEntry, simulatorPort, ...rest] = await pickFreePorts(host, 40);
  const [p1, p2, p3, p4, p5, p6, ...others] = rest;
  const pair = describePostgres(programs, { folder, hosts }, [p1, p2, p3, p4, p5, p6]);
  const temporalPorts = others.slice(0, temporalHosts.length * 3);
  const productPorts = others.slice(temporalPorts.length);
  const temporalAddress = `${host}:${frontendEntry}`;
  const frontends = temporalHosts.flatMap((name, nth) =>
    name.startsWith('frontend') ? [{ name, port: temporalPorts[nth * 3] ?? 0 }] : [],
  );
  const servers = pair.nodes.map(({ name, port, restPort }) => ({ name, port, checkPort: restPort }));
  const haproxy = describeHaproxy({
    command: programs.haproxy,
    folder,
    postgres: { port: entry, backends: servers },
    temporal: { port: frontendEntry, backends: frontends },
    api: { port: apiEntry, backends: apis.map((name, nth) => ({ name, port: productPorts[nth] ?? 0 })) },
  });

  progress.say(`Starting etcd, Postgres (${hosts}) under Patroni, haproxy …`);
  await start([pair.etcd, haproxy]);
  await start(pair.specs);
  const adminUrl = `postgres://${pair.superuser.name}:${pair.superuser.password}@${host}:${entry}/postgres`;
  await untilPaired(pair, adminUrl, signal);
  const databases = await createDatabases(adminUrl);

  progress.say(`Starting Temporal: ${temporalHosts.join(', ')} …`);
  const postgres = { port: databases.port, password: databases.temporalPassword };
  const setUp = {
    sqlTool: programs.temporal.sqlTool,
    cli: programs.cli,
    postgres,
    namespace,
    folder,
    environment,
    signal,
  };
  await setUpSchema(setUp);
  const services = describeTemporal({
    hosts,
    server: programs.temporal.server,
    folder,
    postgres,
    address: temporalAddress,
    ports: temporalPorts,
  });
  // The first service registers the cluster; two at once would reject each other.
  await start(services.slice(0, 1).map(({ spec }) => spec));
  await start(services.slice(1).map(({ spec }) => spec));
  await setUpNamespace(setUp, temporalAddress);

  const apiUrl = `http://${host}:${apiEntry}`;
  const base = productionEnvironment({
    path: environment['PATH'],
    host,
    folder,
    databaseUrl: databases.databaseUrl,
    temporalAddress,
    temporalNamespace: namespace,
    simulatorPort,
  });
  const shared = { ...base, ...options.settings };
  const admin = createAdmin(shared);
  await createAdmin({ ...shared, DATABASE_OWNER_URL: databases.databaseOwnerUrl })('migrate');
  const callbackUrl = `${apiUrl}/provider/webhook`;
  progress.say(`Starting ${[...apis, ...workersOf(hosts).map(({ name }) => name)].join(', ')} …`);
  await start([simulatorChild({ environment: shared, port: simulatorPort, callbackUrl, write: onLine })]);
  await start(describeProduct(hosts, shared, productPorts, onLine));

  return {
    apiUrl,
    admin,
    databaseUrl: databases.databaseUrl,
    providerUrl: base.PROVIDER_BASE_URL,
    temporalAddress,
    kill(name, { withDisk } = { withDisk: false }) {
      let revive = (): void => undefined;
      away.set(name, new Promise((resolve) => (revive = resolve)));
      revivals.push(revive);
      supervisor.kill([name]);
      const node = pair.nodes.find((one) => one.name === name);
      if (node !== undefined) killServer(node, withDisk);
      return { revive };
    },
    pids: () => ({
      ...supervisor.pids(),
      ...Object.fromEntries(pair.nodes.map((node) => [node.name, serverPid(node)])),
    }),
    primary: async () => (await readPair(pair.nodes)).primary?.name,
    async untilWhole() {
      const deadline = performance.now() + wholeLimitMs;
      for (;;) {
        const running = supervisor.pids();
        const missing = started.filter((name) => running[name] === undefined);
        const { whole } = await readPair(pair.nodes);
        if (missing.length === 0 && whole) return;
        signal.throwIfAborted();
        if (performance.now() > deadline)
          throw new StackError(
            `The cluster is not whole again: ${missing.join(', ') || 'Postgres has no standby'}`,
          );
        await sleep(250);
      }
    },
    stop: () => {
      for (const revive of revivals) revive();
      return stopAll(supervisor);
    },
  };
}

/** Waits until the standby follows and haproxy knows the primary. */
async function untilPaired({ nodes }: PostgresPair, adminUrl: string, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + wholeLimitMs;
  const answers = () =>
    withClient(adminUrl, (client) => client.query('SELECT')).then(
      () => true,
      () => false,
    );
  while (!((await readPair(nodes)).whole && (await answers()))) {
    signal.throwIfAborted();
    if (performance.now() > deadline)
      throw new StackError('Postgres does not answer, or got no synchronous standby');
    await sleep(250);
  }
}

/** Stops clients before the servers they use. */
async function stopAll(supervisor: Supervisor): Promise<void> {
  for (const names of [
    [...apisOf(2), ...workersOf(2).map(({ name }) => name)],
    ['provider'],
    temporalHostsOf(2),
    ['postgres-2'],
    ['postgres-1'],
  ])
    await supervisor.stop(names);
  await supervisor.stop();
}
