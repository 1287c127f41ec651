/** `<DATA_DIR>/dev.json`: everything needed to drive a running stack. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, writePrivateJson } from './host/private-file.ts';

export interface DevFile {
  readonly baseUrl: string;
  /** Address of the dashboard; `admin sign-in-link` makes a link that signs in to it. */
  readonly dashboardUrl: string;
  readonly apiKey: string;
  readonly workspaceKey: string;
  readonly operatorKey: string;
  readonly workspaceId: number;
  readonly channelId: string;
  readonly phoneNumberId: string;
  readonly businessAccountId: string;
  /** Keyed by name, or by `name:language` where a template has several languages. */
  readonly templateIds: Readonly<Record<string, string>>;
  /** Null when the stack did not start the Temporal server and TEMPORAL_UI_PORT is not set. */
  readonly temporalUiUrl: string | null;
  readonly temporalAddress: string;
  readonly temporalNamespace: string;
  readonly databaseUrl: string;
  readonly providerUrl: string;
  readonly providerAppSecret: string;
  readonly providerVerifyToken: string;
  /** Process ids of the servers that this start owns. */
  readonly pids: Readonly<Partial<Record<OwnedProcess, number>>>;
}

const ownedProcesses = ['api', 'worker', 'postgres', 'temporal', 'provider'] as const;
export type OwnedProcess = (typeof ownedProcesses)[number];

const fileName = 'dev.json';

export function writeDevFile(dataDir: string, { pids, ...rest }: DevFile): void {
  const owned = ownedProcesses.flatMap((name) => (pids[name] === undefined ? [] : [[name, pids[name]]]));
  writePrivateJson(join(dataDir, fileName), { ...rest, pids: Object.fromEntries(owned) });
}

/** Undefined while no stack is ready on the folder. */
export function readDevFile(dataDir: string): DevFile | undefined {
  return readJson(join(dataDir, fileName)) as DevFile | undefined;
}

export function removeDevFile(dataDir: string): void {
  rmSync(join(dataDir, fileName), { force: true });
}
