/** A whole stack on one data folder: started in order, kept running, stopped in the reverse order. */
import { removeDevFile, writeDevFile, type DevFile } from './dev-file.ts';
import { openDataFolder } from './host/data-folder.ts';
import { prepareDemoWorkspace } from '../demo/workspace.ts';
import { recordProcesses, stopOrphans } from './children/orphans.ts';
import { choosePorts } from './host/ports.ts';
import { adoptDatabase, findForeign } from '../../src/commands/operations/installation.ts';
import { createOrchestrator } from '../../src/orchestrator/orchestrator.ts';
import { createDatabase } from '../../src/records/database/database.ts';
import { workerNames, type Servers, type StackContext, type StackOptions } from './context.ts';
import { startServers } from './servers.ts';
import { startPrograms } from './programs.ts';
import { loadStackSecrets } from './host/secrets.ts';
import { createSupervisor } from './children/supervisor.ts';
import { findTemporalBinary } from './temporal/binary.ts';

export interface Stack {
  readonly dev: DevFile;
  /** Undefined when the Temporal server is not ours. */
  readonly temporalProgram: string | undefined;
  readonly exampleTemplate:
    | { readonly templateId: string; readonly variables: readonly string[] }
    | undefined;
  /** Drains the API and the workers, then stops the servers. Never rejects. */
  readonly stop: () => Promise<void>;
  /** Gives up the drain. */
  readonly hurry: () => void;
}

/** Rejects with a StackError, and leaves no process behind, when the stack cannot be started. */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { settings, signal, log } = options;
  const folder = openDataFolder(settings.dataDir);
  let dev: DevFile | undefined;
  const rewriteDevFile = () => {
    if (dev !== undefined && !stopping) writeDevFile(folder.path, { ...dev, pids: supervisor.pids() });
  };
  const supervisor = createSupervisor({
    log: log.own,
    onSpawn: () => recordProcesses(folder.file('processes.json'), supervisor.pids()),
    onRestart: rewriteDevFile,
  });
  const programs = ['api', ...workerNames(settings.workers)];
  let stopping = false;
  const stopAll = async () => {
    stopping = true;
    removeDevFile(folder.path);
    for (const names of [programs, ['provider'], ['temporal'], ['postgres']]) await supervisor.stop(names);
    recordProcesses(folder.file('processes.json'), supervisor.pids());
    folder.release();
  };
  const onAbort = () => void supervisor.stop();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const started = await startParts({ ...options, folder, supervisor });
    signal.throwIfAborted();
    dev = started.dev;
    rewriteDevFile();
    return {
      ...started,
      stop: stopAll,
      hurry: () => supervisor.kill(programs),
    };
  } catch (error) {
    await stopAll();
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** In one data folder, Postgres and Temporal belong together also after `temporal.db` was moved away to begin empty. */
async function adoptOwnDatabase(
  { databaseUrl, temporalAddress }: Servers,
  temporalNamespace: string,
): Promise<void> {
  const database = await createDatabase(databaseUrl, 2);
  const orchestrator = await createOrchestrator({ temporalAddress, temporalNamespace });
  try {
    const foreign = await findForeign({ database }, await orchestrator.namespace());
    if (foreign !== undefined) await adoptDatabase({ database, orchestrator });
  } finally {
    await Promise.all([orchestrator.close(), database.end()]);
  }
}

async function startParts(
  context: StackContext,
): Promise<Pick<Stack, 'dev' | 'exampleTemplate' | 'temporalProgram'>> {
  const { settings, folder, progress, signal } = context;
  removeDevFile(folder.path);
  const orphans = await stopOrphans(folder.file('processes.json'));
  if (orphans.length > 0)
    progress.say(`Stopped what an earlier start had left running: ${orphans.join(', ')}.`);
  const secrets = loadStackSecrets(folder.file('secrets.json'), settings.environment);
  const ports = await choosePorts(settings, progress);
  const temporalBinary =
    settings.temporalAddress === undefined
      ? await findTemporalBinary({ environment: settings.environment, progress, signal })
      : undefined;
  signal.throwIfAborted();

  const servers = await startServers(context, { ports, temporalBinary, secrets });
  signal.throwIfAborted();
  const isOurs = temporalBinary !== undefined && settings.databaseUrl === undefined;
  if (isOurs) await adoptOwnDatabase(servers, settings.temporalNamespace);
  const workspace = await prepareDemoWorkspace(context, { servers, secrets });
  signal.throwIfAborted();
  const reached = (await context.reachThrough?.(servers)) ?? servers;
  const programs = await startPrograms(context, { ports, servers: reached, secrets, workspace });
  return {
    exampleTemplate: workspace.exampleTemplate,
    temporalProgram: temporalBinary,
    dev: {
      baseUrl: programs.baseUrl,
      dashboardUrl: `${programs.baseUrl}/dashboard`,
      apiKey: workspace.apiKey,
      workspaceKey: workspace.workspaceKey,
      operatorKey: workspace.operatorKey,
      workspaceId: workspace.workspaceId,
      channelId: workspace.channelId,
      phoneNumberId: workspace.phoneNumberId,
      businessAccountId: workspace.businessAccountId,
      templateIds: workspace.templateIds,
      temporalUiUrl: servers.temporalUiUrl,
      temporalAddress: servers.temporalAddress,
      temporalNamespace: settings.temporalNamespace,
      databaseUrl: servers.databaseOwnerUrl,
      providerUrl: servers.providerUrl,
      providerAppSecret: secrets.PROVIDER_APP_SECRET,
      providerVerifyToken: secrets.PROVIDER_VERIFY_TOKEN,
      pids: {},
    },
  };
}
