/**
 * Gives back what was not delivered within the time to live and a day: the provider bills delivered messages only. The state
 * of the message stays, because it may arrive after all, and is then charged again.
 */
import { startPollingLoop, type Loop } from '../../concurrency/polling-loop.ts';
import type { Dependencies } from '../../dependencies.ts';
import { giveBack } from '../../domain/wallet/settlement.ts';
import {
  addToCampaignMoney,
  addToMinute,
  moveCounters,
  noStateMoves,
} from '../../records/campaigns/status-counters.ts';
import type { Database } from '../../records/database/database.ts';
import {
  advanceCampaign,
  forgetCampaign,
  lockDueCampaign,
  lockDueRecipients,
  settleRecipients,
  takeDueMessages,
} from '../../records/wallet/expiry.ts';
import { settleBatch } from './settle-batch.ts';

/** 60 s: money comes back a day after the last moment of delivery anyway. */
const idleMs = 60_000;
/** 1,000 recipients: their locks are kept for some milliseconds. */
const batchSize = 1_000;

const refundReason = 'EXPIRED';

export const startGivingBack = ({ database, logger }: Pick<Dependencies, 'database' | 'logger'>): Loop =>
  startPollingLoop({
    name: 'undelivered messages',
    logger,
    idleMs,
    work: async () => {
      const [ofCampaign, messages] = [await giveBackRecipients(database), await giveBackMessages(database)];
      return ofCampaign || messages;
    },
  });

/** Looks at the next recipients of the campaign that is due first. One transaction; returns true if there may be more to do. */
export function giveBackRecipients(database: Database, limit = batchSize): Promise<boolean> {
  return database.transaction(async (transaction) => {
    const campaign = await lockDueCampaign(transaction);
    if (campaign === undefined) return false;
    const { campaignId, workspaceId, channelId, isOpen, ttlSeconds } = campaign;
    if (workspaceId === null || channelId === null) {
      await forgetCampaign(transaction, campaignId);
      return true;
    }
    const due = await lockDueRecipients(transaction, campaign, limit);
    await settleRecipients(
      transaction,
      campaignId,
      due.recipients.map(({ position }) => position),
    );
    const money = await settleBatch(
      transaction,
      due.recipients.map((recipient) => ({
        target: {
          id: recipient.id,
          kind: 'recipient',
          channel_id: channelId,
          workspace_id: workspaceId,
          campaign_id: campaignId,
          country: recipient.country,
        },
        settle: (wallet) => giveBack({ ...recipient, ...wallet }),
        refundReason,
      })),
    );
    const amounts = [...money.values()].flatMap(({ entries }) => entries.map(({ amount }) => amount));
    const charged = -amounts.reduce((sum, amount) => sum + amount, 0n);
    if (charged !== 0n) {
      await moveCounters(transaction, [{ campaignId, by: noStateMoves, charged }]);
      await addToMinute(transaction, [
        { campaignId, accepted: 0, delivered: 0, read: 0, failed: 0, charged },
      ]);
      await addToCampaignMoney(transaction, [{ campaignId, givenBack: -charged, free: 0 }]);
    }
    if (due.isOver && !isOpen) await forgetCampaign(transaction, campaignId);
    else {
      const later = new Date(Date.now() + (ttlSeconds + daySeconds) * 1_000);
      const dueAt = due.isOver ? later : due.dueAt;
      await advanceCampaign(transaction, campaignId, { lastPosition: due.lastPosition, dueAt });
    }
    return true;
  });
}

const daySeconds = 24 * 60 * 60;

/** The same for messages outside campaigns. */
export function giveBackMessages(database: Database, limit = batchSize): Promise<boolean> {
  return database.transaction(async (transaction) => {
    const due = await takeDueMessages(transaction, limit);
    await settleBatch(
      transaction,
      due.map(({ workspaceId, channelId, campaignId, ...message }) => ({
        target: {
          id: message.id,
          kind: 'message',
          channel_id: channelId,
          workspace_id: workspaceId,
          campaign_id: campaignId,
          country: message.country,
        },
        settle: (wallet) => giveBack({ ...message, ...wallet }),
        refundReason,
      })),
    );
    return due.length === limit;
  });
}
