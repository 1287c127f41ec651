/** What both releases run on, and how a process of either is started. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { spawnChild, waitUntilReady, type RunningChild } from '../child.ts';
import { pickFreePort } from '../free-port.ts';
import { answersOk, listens, nodeChild } from '../node-children.ts';
import { createDatabaseIfMissing, preparePostgres } from '../postgres.ts';
import { createAdmin, type Admin } from '../production/admin.ts';
import type { Progress } from '../progress.ts';
import type { Supervisor } from '../supervisor.ts';
import { findTemporalBinary } from '../temporal-binary.ts';
import { temporalServer } from '../temporal-server.ts';
import type { Environment } from '../user-cache.ts';

export interface Site {
  readonly databaseUrl: string;
  readonly providerUrl: string;
  /** Where the provider's callbacks go, on a port that one API process at a time may hold. */
  readonly adminOf: (folder: string) => Admin;
  readonly start: (process: ProcessSpec) => Promise<Running>;
}

export interface ProcessSpec {
  readonly name: string;
  readonly kind: 'api' | 'worker';
  /** Holds the release's `dist`. */
  readonly folder: string;
  readonly port: number;
}

export interface Running extends RunningChild {
  readonly name: string;
  readonly url: string;
}

export interface SiteOptions {
  readonly supervisor: Supervisor;
  readonly progress: Progress;
  /** Empty; everything is kept in it. */
  readonly folder: string;
  readonly environment: Environment;
  /** Where the simulator sends its callbacks. */
  readonly callbackUrl: string;
  readonly onLine: (process: string, line: string) => void;
  readonly signal: AbortSignal;
}

const host = '127.0.0.1';
const namespace = 'default';
const readyWithinMs = 60_000;
const drainMs = 31_000;
const drainDelaySeconds = '2';

export async function prepareSite(options: SiteOptions): Promise<Site> {
  const { supervisor, progress, folder, environment, callbackUrl, onLine, signal } = options;
  const binary = await findTemporalBinary({ environment, progress, signal });
  const [postgresPort, temporalPort, uiPort, simulatorPort] = await pickPorts(4);
  const postgres = await preparePostgres({
    dataDir: folder,
    port: postgresPort,
    logFile: join(folder, 'postgres.log'),
  });
  const shared = {
    PATH: environment['PATH'],
    NODE_ENV: 'production',
    HOST: host,
    DATA_DIR: join(folder, 'files'),
    DATABASE_URL: postgres.url,
    TEMPORAL_ADDRESS: `${host}:${temporalPort}`,
    TEMPORAL_NAMESPACE: namespace,
    PROVIDER_BASE_URL: `http://${host}:${simulatorPort}/v23.0`,
    PROVIDER_APP_SECRET: secret(),
    PROVIDER_VERIFY_TOKEN: secret(),
    KEY_PEPPER: secret(),
    SECRETS_KEY: secret(),
    OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
    OUTBOUND_ALLOW_PRIVATE: 'yes',
    DRAIN_DELAY_SECONDS: drainDelaySeconds,
    LOG_FORMAT: 'json',
  };
  await Promise.all([
    supervisor.start(postgres.spec).then(() => createDatabaseIfMissing(postgres)),
    supervisor.start(
      temporalServer({
        binary,
        dataDir: folder,
        namespace,
        port: temporalPort,
        uiPort,
        logFile: join(folder, 'temporal.log'),
        environment,
      }),
    ),
    supervisor.start(
      nodeChild({
        name: 'provider',
        entry: 'local-stack/provider-simulator/main.js',
        environment: {
          ...shared,
          SIMULATOR_PORT: String(simulatorPort),
          SIMULATOR_CALLBACK_URL: callbackUrl,
        },
        output: { kind: 'lines', write: (line) => onLine('provider', line) },
        isReady: () => listens(simulatorPort),
        drainMs: 5_000,
      }),
    ),
  ]);

  return {
    databaseUrl: postgres.url,
    providerUrl: shared.PROVIDER_BASE_URL,
    adminOf: (release) => createAdmin(shared, join(release, 'dist', 'src', 'admin.js')),
    async start({ name, kind, folder: release, port }) {
      const url = `http://${host}:${port}`;
      const entry = join(release, 'dist', 'src', kind === 'api' ? 'server.js' : 'worker.js');
      const spec = nodeChild({
        name,
        entry: pathToFileURL(entry).href,
        environment: { ...shared, [kind === 'api' ? 'PORT' : 'METRICS_PORT']: String(port) },
        output: { kind: 'lines', write: (line) => onLine(name, line) },
        isReady: () => answersOk(`${url}/readyz`),
        drainMs,
      });
      const child = await spawnChild({ ...spec, readyTimeoutMs: readyWithinMs });
      try {
        await waitUntilReady(spec, child);
      } catch (error) {
        await child.stop();
        throw error;
      }
      return { ...child, name, url };
    },
  };
}

export async function pickPorts<const N extends number>(count: N): Promise<readonly [...Ports<N>]> {
  const taken = new Set<number>();
  while (taken.size < count) taken.add(await pickFreePort(host, taken));
  return [...taken] as unknown as readonly [...Ports<N>];
}

type Ports<N extends number, P extends readonly number[] = []> = P['length'] extends N
  ? P
  : Ports<N, [...P, number]>;

function secret(): string {
  return randomBytes(32).toString('hex');
}
