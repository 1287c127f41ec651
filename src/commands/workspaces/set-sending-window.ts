import type { SendingWindow } from '../../domain/campaigns/sending-window.ts';
import type { Dependencies } from '../../dependencies.ts';
import { insertAuditEntry } from '../../records/operations/audit.ts';
import { saveWorkspaceWindow } from '../../records/workspaces/workspace-window.ts';

/**
 * Sets, or with null removes, the hours of MARKETING campaigns. Returns the running campaigns whose workflows are to be
 * notified: by the caller, or later by a loop of the workers. Throws NotFound.
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
