import type { Dependencies } from '../../dependencies.ts';
import { lockCampaign, moveCampaign } from '../../records/campaigns/lifecycle.ts';
import type { SendingContext } from '../../records/sending/sending-context.ts';
import { lockWallets } from '../../records/wallet/settlement.ts';

/**
 * Spec 3.1: pauses the campaign because the wallet cannot cover a message. Does nothing if the campaign has changed since its
 * `epoch`, or if the wallet now has more than the `available` that did not suffice, so that no recharge is missed.
 */
export async function pauseForBalance(
  { database, logger, metrics }: Pick<Dependencies, 'database' | 'logger' | 'metrics'>,
  { campaign_id: campaignId, channel_id: channelId, epoch }: SendingContext,
  available: bigint,
): Promise<void> {
  const paused = await database.transaction(async (transaction) => {
    const campaign = await lockCampaign(transaction, campaignId);
    if (campaign.epoch !== epoch) return false;
    const [wallet] = await lockWallets(transaction, [channelId]);
    if (wallet !== undefined && wallet.balance - wallet.reserved > available) return false;
    await moveCampaign(transaction, campaign, 'pause', 'INSUFFICIENT_BALANCE');
    return true;
  });
  if (!paused) return;
  metrics.walletPauses.inc();
  logger.info({ campaignId, pauseReason: 'INSUFFICIENT_BALANCE' }, 'campaign paused');
}
