/** The parts of a stack, started and killed one by one as a disaster and its repair ask for it. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { openDataFolder } from '../../stack/host/data-folder.ts';
import { prepareDemoWorkspace } from '../../demo/workspace.ts';
import { createDemoApi, type DemoApi } from '../../demo/api.ts';
import { rotateLog } from '../../stack/children/log-file.ts';
import { choosePorts } from '../../stack/host/ports.ts';
import { findPostgresBinaries } from '../../stack/postgres/binaries.ts';
import { preparePostgres } from '../../stack/postgres/server.ts';
import type { Progress } from '../../stack/progress.ts';
import { startServers } from '../../stack/servers.ts';
import { startPrograms } from '../../stack/programs.ts';
import { loadStackSecrets } from '../../stack/host/secrets.ts';
import type { StackSettings } from '../../stack/settings.ts';
import { createSupervisor } from '../../stack/children/supervisor.ts';
import { findTemporalBinary } from '../../stack/temporal/binary.ts';
import { temporalServer } from '../../stack/temporal/server.ts';

export interface DoctorRun {
  readonly exitCode: number;
  readonly lines: readonly string[];
  readonly seconds: number;
}

export interface DrillStack {
  readonly api: DemoApi;
  readonly templateId: string;
  readonly databaseUrl: string;
  readonly providerUrl: string;
  readonly postgresFolder: string;
  readonly temporalFiles: string;
  readonly startPrograms: () => Promise<void>;
  /** Kills the processes with SIGKILL, as a failing machine would; they are not restarted. */
  readonly kill: (names: readonly ('api' | 'worker' | 'postgres' | 'temporal')[]) => Promise<void>;
  /** Stops the processes with their usual signals. */
  readonly stop: (names: readonly string[]) => Promise<void>;
  readonly startPostgres: () => Promise<void>;
  readonly startTemporal: () => Promise<void>;
  readonly doctor: (...args: readonly string[]) => Promise<DoctorRun>;
  readonly stopAll: () => Promise<void>;
}

const admin = fileURLToPath(new URL('../../../src/admin.js', import.meta.url));

export async function startDrillStack(
  settings: StackSettings,
  progress: Progress,
  signal: AbortSignal,
): Promise<DrillStack> {
  const folder = openDataFolder(settings.dataDir);
  const quiet = { own: () => undefined, of: () => () => undefined };
  const supervisor = createSupervisor({
    log: () => undefined,
    onSpawn: () => undefined,
    onRestart: () => undefined,
  });
  const context = { settings, folder, supervisor, progress, signal, log: quiet };
  const secrets = loadStackSecrets(folder.file('secrets.json'), settings.environment);
  const ports = await choosePorts(settings, progress);
  const temporalBinary = await findTemporalBinary({ environment: settings.environment, progress, signal });
  const stopAll = async () => {
    for (const names of [['api', 'worker'], ['provider'], ['temporal'], ['postgres']])
      await supervisor.stop(names);
    folder.release();
  };
  try {
    const servers = await startServers(context, { ports, temporalBinary, secrets });
    const workspace = await prepareDemoWorkspace(context, { servers, secrets });
    const { baseUrl } = await startPrograms(context, { ports, servers, secrets, workspace });
    return {
      api: createDemoApi({ baseUrl, apiKey: workspace.apiKey }),
      templateId: workspace.templateIds['plain_notice'] ?? '',
      databaseUrl: servers.databaseOwnerUrl,
      providerUrl: servers.providerUrl,
      postgresFolder: folder.file(`pg${findPostgresBinaries().major}`),
      temporalFiles: folder.file('temporal.db'),
      startPrograms: async () => {
        await startPrograms(context, { ports, servers, secrets, workspace });
      },
      kill: async (names) => {
        supervisor.kill(names);
        await supervisor.stop(names);
      },
      stop: (names) => supervisor.stop(names),
      startPostgres: async () => {
        // Only here: preparing Postgres stops any server that runs on the folder.
        const { spec } = await preparePostgres({
          dataDir: folder.path,
          port: ports.postgres,
          logFile: rotateLog(folder.logs, 'postgres'),
        });
        await supervisor.start(spec);
      },
      startTemporal: () =>
        supervisor.start(
          temporalServer({
            binary: temporalBinary,
            dataDir: folder.path,
            namespace: settings.temporalNamespace,
            port: ports.temporal,
            uiPort: ports.temporalUi,
            logFile: rotateLog(folder.logs, 'temporal'),
            environment: settings.environment,
          }),
        ),
      doctor: (...args) =>
        runDoctor(args, {
          ...settings.environment,
          ...secrets,
          DATA_DIR: folder.path,
          DATABASE_URL: servers.databaseUrl,
          TEMPORAL_ADDRESS: servers.temporalAddress,
          TEMPORAL_NAMESPACE: settings.temporalNamespace,
          PROVIDER_BASE_URL: servers.providerUrl,
        }),
      stopAll,
    };
  } catch (error) {
    await stopAll();
    throw error;
  }
}

function runDoctor(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<DoctorRun> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    execFile(process.execPath, [admin, 'doctor', ...args], { env: environment }, (error, stdout, stderr) => {
      resolve({
        exitCode: error === null ? 0 : Number(error.code ?? 1),
        lines: `${stdout}${stderr}`.trim().split('\n'),
        seconds: (performance.now() - startedAt) / 1000,
      });
    });
  });
}
