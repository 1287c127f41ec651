import type { Dependencies } from '../../dependencies.ts';
import { keyScopes, mintApiKey } from '../../domain/workspaces/api-key.ts';
import { Invalid } from '../../domain/error.ts';
import { insertApiKey } from '../../records/workspaces/api-keys.ts';
import { insertAuditEntry } from '../../records/operations/audit.ts';
import { getChannel } from '../../records/workspaces/channels.ts';
import { requireWorkspace } from '../../records/workspaces/workspaces.ts';

export interface CreateApiKey {
  readonly workspaceId: number;
  /** One of `keyScopes`. */
  readonly scope: string;
  /** Given exactly when the scope is `channel`. */
  readonly channelId?: string;
}

/** `apiKey` is shown this once: only its hash is stored. */
export async function createApiKey(
  {
    database,
    config,
  }: Pick<Dependencies, 'database'> & { readonly config: Pick<Dependencies['config'], 'keyPeppers'> },
  { workspaceId, scope: given, channelId }: CreateApiKey,
): Promise<{ readonly keyId: string; readonly apiKey: string }> {
  const scope = keyScopes.find((candidate) => candidate === given);
  if (scope === undefined) throw Invalid.at('scope', `scope must be one of ${keyScopes.join(', ')}`);
  if ((scope === 'channel') !== (channelId !== undefined)) {
    throw Invalid.at('channelId', 'a key of scope channel needs a channel id, any other takes none');
  }
  const [pepper] = config.keyPeppers;
  if (pepper === undefined) throw new Error('No key pepper is configured');

  await requireWorkspace(database, workspaceId);
  if (channelId !== undefined) await getChannel(database, workspaceId, channelId);
  const { apiKey, stored } = mintApiKey(pepper);
  await database.transaction(async (transaction) => {
    await insertApiKey(transaction, { ...stored, workspaceId, channelId: channelId ?? null, scope });
    await insertAuditEntry(transaction, { workspaceId, action: 'key.create', objectId: stored.keyId });
  });
  return { keyId: stored.keyId, apiKey };
}
