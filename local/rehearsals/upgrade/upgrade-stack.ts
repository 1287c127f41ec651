/** The servers that both releases share, and how to start a process of either release. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { spawnChild, waitUntilReady, type RunningChild } from '../../stack/children/child.ts';
import { pickFreePorts } from '../../stack/host/free-port.ts';
import { answersOk, nodeChild } from '../../stack/children/node-children.ts';
import { createDatabaseIfMissing, preparePostgres } from '../../stack/postgres/server.ts';
import { createAdmin, type Admin } from '../../cluster/admin.ts';
import { productionEnvironment } from '../../cluster/environment.ts';
import type { Progress } from '../../stack/progress.ts';
import { simulatorChild } from '../../stack/children/simulator-child.ts';
import type { Supervisor } from '../../stack/children/supervisor.ts';
import { findTemporalBinary } from '../../stack/temporal/binary.ts';
import { temporalServer } from '../../stack/temporal/server.ts';
import type { Environment } from '../../stack/host/user-cache.ts';

export interface UpgradeStack {
  readonly databaseUrl: string;
  readonly providerUrl: string;
  /** The admin commands of the release in `folder`. */
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

export interface UpgradeStackOptions {
  readonly supervisor: Supervisor;
  readonly progress: Progress;
  /** Empty at the start; holds all data and logs. */
  readonly folder: string;
  readonly environment: Environment;
  /** Where the simulator sends its callbacks. */
  readonly callbackUrl: string;
  readonly onLine: (process: string, line: string) => void;
  readonly signal: AbortSignal;
}

export const host = '127.0.0.1';
const namespace = 'default';
const readyWithinMs = 60_000;
const drainMs = 31_000;
const drainDelaySeconds = '2';

export async function prepareUpgradeStack(options: UpgradeStackOptions): Promise<UpgradeStack> {
  const { supervisor, progress, folder, environment, callbackUrl, onLine, signal } = options;
  const binary = await findTemporalBinary({ environment, progress, signal });
  const [postgresPort, temporalPort, uiPort, simulatorPort] = await pickFreePorts(host, 4);
  const postgres = await preparePostgres({
    dataDir: folder,
    port: postgresPort,
    logFile: join(folder, 'postgres.log'),
  });
  const shared = {
    ...productionEnvironment({
      path: environment['PATH'],
      host,
      folder,
      databaseUrl: postgres.ownerUrl,
      temporalAddress: `${host}:${temporalPort}`,
      temporalNamespace: namespace,
      simulatorPort,
    }),
    DRAIN_DELAY_SECONDS: drainDelaySeconds,
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
      simulatorChild({
        environment: shared,
        port: simulatorPort,
        callbackUrl,
        write: (line) => onLine('provider', line),
      }),
    ),
  ]);

  return {
    databaseUrl: postgres.ownerUrl,
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
