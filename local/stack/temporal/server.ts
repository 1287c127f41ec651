/** The Temporal development server with its Web UI, its state in one SQLite file. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createOrchestrator } from '../../../src/orchestrator/orchestrator.ts';
import { sqlFolder } from '../../../src/records/database/migrate.ts';
import { searchAttributeNames } from '../../../src/workflows/contract.ts';
import type { ChildSpec } from '../children/child.ts';
import type { Environment } from '../host/user-cache.ts';

export interface TemporalServerOptions {
  readonly binary: string;
  /** Absolute. */
  readonly dataDir: string;
  readonly namespace: string;
  readonly port: number;
  readonly uiPort: number;
  readonly logFile: string;
  readonly environment: Environment;
}

const searchAttributes = [
  `${searchAttributeNames.workspaceId}=Int`,
  `${searchAttributeNames.campaignStatus}=Keyword`,
  `${searchAttributeNames.pauseReason}=Keyword`,
];

/** Dynamic configuration, as in production: the lines of its file, as `name=value`. */
export function dynamicConfig(): readonly string[] {
  const file = join(dirname(sqlFolder()), 'ops', 'temporal', 'dynamic-config.yaml');
  const settings = readFileSync(file, 'utf8').matchAll(/^(\w[\w.]+): \[\{ value: (.+) \}\]$/gm);
  return [...settings].map(([, name, value]) => `${name}=${value}`);
}

/** WAL with `synchronous=normal` is three times as fast as the default and loses nothing when the process is killed. */
const sqlitePragmas = ['journal_mode=wal', 'synchronous=normal'];

export function temporalServer(options: TemporalServerOptions): ChildSpec {
  const { binary, dataDir, namespace, port, uiPort, logFile, environment } = options;
  const address = `127.0.0.1:${port}`;
  const flags = Object.entries({
    '--ip': ['127.0.0.1'],
    '--port': [String(port)],
    '--ui-port': [String(uiPort)],
    '--namespace': [namespace],
    '--db-filename': [join(dataDir, 'temporal.db')],
    '--log-format': ['json'],
    '--log-level': ['error'],
    '--sqlite-pragma': sqlitePragmas,
    '--search-attribute': searchAttributes,
    '--dynamic-config-value': dynamicConfig(),
  }).flatMap(([flag, values]) => values.flatMap((value) => [flag, value]));
  return {
    name: 'temporal',
    command: binary,
    args: ['server', 'start-dev', ...flags],
    cwd: dataDir,
    environment: { PATH: environment['PATH'], HOME: environment['HOME'], TZ: 'UTC' },
    output: { kind: 'file', path: logFile },
    watchParent: false,
    isReady: () => answers(address, namespace),
    readyTimeoutMs: 60_000,
    stopSignals: [{ signal: 'SIGTERM', waitMs: 15_000 }],
    explainFailure: (reason) =>
      `The Temporal server did not start (${reason}): its log is ${logFile}. ` +
      `If ${join(dataDir, 'temporal.db')} is damaged, restore it or move it away (with -shm and -wal) to begin empty.`,
  };
}

/** True when the server at `address` knows the namespace. */
export async function answers(address: string, namespace: string, timeoutMs = 2_000): Promise<boolean> {
  const orchestrator = await createOrchestrator({ temporalAddress: address, temporalNamespace: namespace });
  try {
    const { connection, workflowService } = orchestrator.client;
    await connection.withDeadline(Date.now() + timeoutMs, () =>
      workflowService.describeNamespace({ namespace }),
    );
    return true;
  } catch {
    return false;
  } finally {
    await orchestrator.close();
  }
}
