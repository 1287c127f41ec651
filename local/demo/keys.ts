/** The three keys of the demo workspace, kept across starts in a file for the owner only. */
import { createHash } from 'node:crypto';
import { createApiKey } from '../../src/commands/workspaces/api-keys.ts';
import { readJson, writePrivateJson } from '../stack/host/private-file.ts';
import type { DemoDependencies } from './dependencies.ts';

export interface DemoKeys {
  /** The channel's API key. */
  readonly apiKey: string;
  readonly workspaceKey: string;
  readonly operatorKey: string;
}

interface DemoKeyOptions {
  readonly file: string;
  readonly workspaceId: number;
  readonly channelId: string;
}

interface StoredKeys extends DemoKeys {
  /** The keys were created for this channel; another id means that the database was replaced. */
  readonly channelId: string;
  /** Keys created under an unknown pepper cannot be verified. */
  readonly pepper: string;
}

export async function prepareDemoKeys(
  dependencies: DemoDependencies,
  { file, workspaceId, channelId }: DemoKeyOptions,
): Promise<DemoKeys> {
  const stored = readJson(file) as Partial<StoredKeys> | undefined;
  const { apiKey, workspaceKey, operatorKey } = stored ?? {};
  const complete = apiKey !== undefined && workspaceKey !== undefined && operatorKey !== undefined;
  const known = dependencies.config.keyPeppers.map(fingerprint).includes(stored?.pepper ?? '');
  if (complete && known && stored?.channelId === channelId) return { apiKey, workspaceKey, operatorKey };

  const keys: DemoKeys = {
    apiKey: (await createApiKey(dependencies, { workspaceId, channelId, scope: 'channel' })).apiKey,
    workspaceKey: (await createApiKey(dependencies, { workspaceId, scope: 'workspace' })).apiKey,
    operatorKey: (await createApiKey(dependencies, { workspaceId, scope: 'operator' })).apiKey,
  };
  const pepper = fingerprint(dependencies.config.keyPeppers[0] ?? '');
  writePrivateJson(file, { ...keys, channelId, pepper } satisfies StoredKeys);
  return keys;
}

function fingerprint(pepper: string): string {
  return createHash('sha256').update('demo-keys:').update(pepper).digest('hex').slice(0, 16);
}
