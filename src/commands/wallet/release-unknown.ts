import type { Dependencies } from '../../dependencies.ts';
import { insertAuditEntry } from '../../records/operations/audit.ts';
import { releaseUnknown, type ReleasedMoney, type UnknownMessages } from '../../records/wallet/unknown.ts';
import { requireWorkspace } from '../../records/workspaces/workspaces.ts';

const limit = 5000;

/** Releases the reservations of UNKNOWN messages without a receipt for the given time, batch by batch. Safe to repeat. */
export async function releaseUnknownMessages(
  { database }: Pick<Dependencies, 'database'>,
  request: Omit<UnknownMessages, 'limit'>,
): Promise<ReleasedMoney> {
  const { workspaceId } = request;
  await requireWorkspace(database, workspaceId);
  const total = { messages: 0, amount: 0n };
  for (;;) {
    const { messages, amount } = await database.transaction(async (transaction) => {
      const released = await releaseUnknown(transaction, { ...request, limit });
      if (released.messages > 0) {
        const objectId = request.campaignId ?? String(workspaceId);
        await insertAuditEntry(transaction, { workspaceId, action: 'wallet.release-unknown', objectId });
      }
      return released;
    });
    if (messages === 0) return total;
    total.messages += messages;
    total.amount += amount;
  }
}
