/** The servers below the programs: Postgres, Temporal and the provider, each embedded unless the environment names another. */
import { migrate, sqlFolder } from '../../src/records/database/migrate.ts';
import { prepareApplicationRole } from '../../src/records/database/application-role.ts';
import { rotateLog } from './children/log-file.ts';
import { databaseProblem, requireDatabase } from './postgres/problem.ts';
import { loadDemoIdentity, type DemoIdentity } from '../demo/identity.ts';
import type { StackPorts } from './host/ports.ts';
import { createDatabaseIfMissing, preparePostgres } from './postgres/server.ts';
import { allOrNone } from './children/all-or-none.ts';
import { simulatorChild } from './children/simulator-child.ts';
import { StackError } from './error.ts';
import type { StackSecrets } from './host/secrets.ts';
import { originOf } from './host/origin.ts';
import type { Servers, StackContext } from './context.ts';
import { answers, temporalServer } from './temporal/server.ts';

interface ServerOptions {
  readonly ports: StackPorts;
  /** Undefined when the Temporal server is not ours. */
  readonly temporalBinary: string | undefined;
  readonly secrets: StackSecrets;
}

const providerVersion = 'v26.0';

/** Starts all three side by side; resolves when each is usable and the schema is up to date. */
export async function startServers(context: StackContext, options: ServerOptions): Promise<Servers> {
  const identity = loadDemoIdentity(context.folder.file('demo-identity.json'));
  const [database, temporal, providerUrl] = await allOrNone(context, [
    startDatabase(context, options),
    startTemporal(context, options),
    startProvider(context, { ...options, identity }),
  ]);
  return { ...database, ...temporal, providerUrl, identity };
}

async function startDatabase(
  { settings, folder, supervisor, progress }: StackContext,
  { ports }: ServerOptions,
): Promise<Pick<Servers, 'databaseUrl' | 'databaseOwnerUrl'>> {
  const { databaseUrl, databaseOwnerUrl } = settings;
  if (databaseUrl !== undefined) {
    await requireDatabase(databaseUrl);
    return bringUpToDate({ databaseUrl, databaseOwnerUrl: databaseOwnerUrl ?? databaseUrl });
  }
  progress.say('Starting Postgres …');
  const logFile = rotateLog(folder.logs, 'postgres');
  const postgres = await preparePostgres({ dataDir: folder.path, port: ports.postgres, logFile });
  await supervisor.start(postgres.spec);
  try {
    await createDatabaseIfMissing(postgres);
  } catch (error) {
    throw embeddedProblem(postgres.dataFolder, error);
  }
  return bringUpToDate({ databaseUrl: postgres.url, databaseOwnerUrl: postgres.ownerUrl });
}

async function bringUpToDate<A extends Pick<Servers, 'databaseUrl' | 'databaseOwnerUrl'>>(
  urls: A,
): Promise<A> {
  try {
    await migrate(urls.databaseOwnerUrl, sqlFolder());
    await prepareApplicationRole(urls.databaseOwnerUrl, urls.databaseUrl);
    return urls;
  } catch (error) {
    throw databaseProblem(urls.databaseOwnerUrl, error);
  }
}

function embeddedProblem(dataFolder: string, error: unknown): StackError {
  const message = error instanceof Error ? error.message : String(error);
  return new StackError(
    `The embedded Postgres runs but cannot be used (${message}): restore ${dataFolder} and its password file, or move both away to begin empty.`,
    { cause: error },
  );
}

async function startTemporal(
  { settings, folder, supervisor, progress }: StackContext,
  { ports, temporalBinary }: ServerOptions,
): Promise<Pick<Servers, 'temporalAddress' | 'temporalUiUrl'>> {
  const namespace = settings.temporalNamespace;
  if (temporalBinary === undefined) {
    const address = settings.temporalAddress ?? '';
    if (!(await answers(address, namespace, 10_000))) {
      throw new StackError(
        `No Temporal server with the namespace ${namespace} answers at ${address}: start it, or correct TEMPORAL_ADDRESS ` +
          'and TEMPORAL_NAMESPACE, or unset TEMPORAL_ADDRESS to use the embedded one.',
      );
    }
    const uiPort = settings.temporalUiPort;
    const host = address.replace(/:\d+$/, '');
    return {
      temporalAddress: address,
      temporalUiUrl: uiPort === undefined || uiPort === 0 ? null : `http://${host}:${uiPort}`,
    };
  }
  progress.say('Starting Temporal …');
  await supervisor.start(
    temporalServer({
      binary: temporalBinary,
      dataDir: folder.path,
      namespace,
      port: ports.temporal,
      uiPort: ports.temporalUi,
      logFile: rotateLog(folder.logs, 'temporal'),
      environment: settings.environment,
    }),
  );
  return {
    temporalAddress: `127.0.0.1:${ports.temporal}`,
    temporalUiUrl: `http://127.0.0.1:${ports.temporalUi}`,
  };
}

async function startProvider(
  { settings, folder, supervisor, log }: StackContext,
  { ports, secrets, identity }: ServerOptions & { identity: DemoIdentity },
): Promise<string> {
  if (settings.providerBaseUrl !== undefined) return settings.providerBaseUrl;
  await supervisor.start(
    simulatorChild({
      environment: {
        ...settings.environment,
        ...secrets,
        SIMULATOR_BUSINESS_ACCOUNT_ID: identity.businessAccountId,
        SIMULATOR_PHONE_NUMBER_ID: identity.phoneNumberId,
        SIMULATOR_ACCESS_TOKEN: identity.accessToken,
        SIMULATOR_STATE_FILE: folder.file('provider-received.jsonl'),
      },
      port: ports.simulator,
      callbackUrl: `${originOf(settings.host, ports.api)}/provider/webhook`,
      write: log.of('provider'),
    }),
  );
  return `http://127.0.0.1:${ports.simulator}/${providerVersion}`;
}
