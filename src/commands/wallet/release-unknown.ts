import type { Dependencies } from '../../dependencies.ts';
import { getCampaign } from '../../records/campaigns/campaigns.ts';
import { insertAuditEntry } from '../../records/operations/audit.ts';
import { releaseUnknown, type ReleasedMoney, type UnknownMessages } from '../../records/wallet/unknown.ts';
import { requireWorkspace } from '../../records/workspaces/workspaces.ts';

const limit = 5000;

/** Releases the reservations of UNKNOWN messages without a receipt for the given time, batch by batch. Safe to repeat. Throws NotFound. */
export async function releaseUnknownMessages(
  { database }: Pick<Dependencies, 'database'>,
  request: Omit<UnknownMessages, 'limit'>,
): Promise<ReleasedMoney> {
  const { workspaceId, campaignId } = request;
  await requireWorkspace(database, workspaceId);
  if (campaignId !== undefined) await getCampaign(database, workspaceId, campaignId);
  const total = { messages: 0, amount: 0n };
  for (;;) {
    const { messages, amount } = await database.transaction(async (transaction) => {
      const released = await releaseUnknown(transaction, { ...request, limit });
      if (released.messages > 0) {
        const objectId = campaignId ?? String(workspaceId);
        await insertAuditEntry(transaction, { workspaceId, action: 'wallet.release-unknown', objectId });
      }
      return released;
    });
    if (messages === 0) return total;
    total.messages += messages;
    total.amount += amount;
  }
}
