/** API keys, and links that sign in to the dashboard with the rights of a key. */
import type { Dependencies } from '../../dependencies.ts';
import { Invalid, NotFound } from '../../domain/error.ts';
import {
  hashSessionSecret,
  keyScopes,
  mintApiKey,
  newSessionSecret,
  pepperId,
} from '../../domain/workspaces/api-key.ts';
import { insertAuditEntry } from '../../records/operations/audit.ts';
import * as apiKeys from '../../records/workspaces/api-keys.ts';
import { insertApiKey, listKeysUnderOtherPeppers, type StaleKey } from '../../records/workspaces/api-keys.ts';
import { getChannel } from '../../records/workspaces/channels.ts';
import { insertSignInLink } from '../../records/workspaces/operator-sessions.ts';
import { requireWorkspace } from '../../records/workspaces/workspaces.ts';

interface CreateApiKey {
  readonly workspaceId: number;
  /** One of `keyScopes`. */
  readonly scope: string;
  /** Given if and only if the scope is `channel`. */
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

/** Every process refuses the key within 5 seconds. Safe to repeat. */
export async function revokeApiKey(
  { database }: Pick<Dependencies, 'database'>,
  { keyId }: { readonly keyId: string },
): Promise<{ readonly keyId: string; readonly revoked: true }> {
  await database.transaction(async (transaction) => {
    const workspaceId = await apiKeys.revokeApiKey(transaction, keyId);
    if (workspaceId === undefined) throw new NotFound('API key');
    await insertAuditEntry(transaction, { workspaceId, action: 'key.revoke', objectId: keyId });
  });
  return { keyId, revoked: true };
}

/**
 * Lists the keys that the current pepper does not verify. `known` means that a configured former pepper still does; other keys
 * have stopped working.
 */
export async function listStaleKeys({
  database,
  config,
}: Pick<Dependencies, 'database'> & {
  readonly config: Pick<Dependencies['config'], 'keyPeppers'>;
}): Promise<{ readonly stale: number; readonly keys: readonly (StaleKey & { readonly known: boolean })[] }> {
  const [current = '', ...former] = config.keyPeppers.map(pepperId);
  const keys = await listKeysUnderOtherPeppers(database, current);
  return { stale: keys.length, keys: keys.map((key) => ({ ...key, known: former.includes(key.pepperId) })) };
}

// Creates a link that signs in to the dashboard once, within ten minutes, with the rights of a key.

interface SignInLink {
  /** The token comes after `#`, so that neither logs nor proxies see it. */
  readonly url: string;
  readonly expiresAt: Date;
}

/** `origin` is the API's address. Throws NotFound if the key is revoked or does not exist. */
export async function createSignInLink(
  { database }: Pick<Dependencies, 'database'>,
  { keyId, origin }: { readonly keyId: string; readonly origin: string },
): Promise<SignInLink> {
  const token = newSessionSecret();
  const expiresAt = await insertSignInLink(database, { tokenHash: hashSessionSecret(token), keyId });
  if (expiresAt === undefined) throw new NotFound('Key');
  return { url: `${origin}/dashboard/sign-in#token=${token}`, expiresAt };
}
