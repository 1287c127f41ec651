import type { Dependencies } from '../../dependencies.ts';
import { NotFound } from '../../domain/error.ts';
import * as apiKeys from '../../records/workspaces/api-keys.ts';

/** Every process refuses the key within 5 seconds. Revoking twice is the same as once. */
export async function revokeApiKey(
  { database }: Pick<Dependencies, 'database'>,
  { keyId }: { readonly keyId: string },
): Promise<{ readonly keyId: string; readonly revoked: true }> {
  if (!(await apiKeys.revokeApiKey(database, keyId))) throw new NotFound('API key');
  return { keyId, revoked: true };
}
