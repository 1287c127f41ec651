import type { SendingWindow } from '../../domain/campaigns/sending-window.ts';
import type { Dependencies } from '../../dependencies.ts';
import { insertAuditEntry } from '../../records/operations/audit.ts';
import { saveWorkspaceWindow } from '../../records/workspaces/workspace-window.ts';

/**
 * Sets the sending window of MARKETING campaigns, or removes it with null. Returns the running campaigns whose workflows the
 * caller should notify; a worker loop does it otherwise. Throws NotFound.
 */
export function setSendingWindow(
  { database }: Pick<Dependencies, 'database'>,
  workspaceId: number,
  window: SendingWindow | null,
): Promise<readonly string[]> {
  return database.transaction(async (transaction) => {
    const campaignIds = await saveWorkspaceWindow(transaction, workspaceId, window);
    const entry = { workspaceId, action: 'workspace.sending-window', objectId: String(workspaceId) } as const;
    await insertAuditEntry(transaction, entry);
    return campaignIds;
  });
}
