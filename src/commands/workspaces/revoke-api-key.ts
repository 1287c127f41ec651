import type { Dependencies } from '../../dependencies.ts';
import { NotFound } from '../../domain/error.ts';
import { insertAuditEntry } from '../../records/operations/audit.ts';
import * as apiKeys from '../../records/workspaces/api-keys.ts';

/** Every process refuses the key within 5 seconds. Revoking twice is the same as once. */
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
