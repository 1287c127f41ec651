/** The first start of a prepared campaign that is due: quota counted once, obstacles turned into a pause. */
import { nextCampaignStatus, type PauseReason } from '../../domain/campaigns/campaign.ts';
import { isSendable } from '../../domain/templates/definition.ts';
import type { Dependencies } from '../../dependencies.ts';
import {
  acceptCategory,
  countBroadcast,
  lockCampaign,
  moveCampaign,
  type LockedCampaign,
} from '../../records/campaigns/lifecycle.ts';
import { slowStartSize, startSlowly } from '../../records/sending/failure-brake.ts';
import type { Connection } from '../../records/database/database.ts';
import { offerEndingBeforeSending } from './edit-campaign.ts';

/**
 * Spec 4.1 rule 5. Does nothing unless the campaign is prepared and waiting to start. Returns the ms until it is due, or 0.
 * Uses Postgres' clock, because a worker's clock may be ahead.
 */
export async function beginCampaign(
  { database, logger }: Pick<Dependencies, 'database' | 'logger'>,
  campaignId: string,
): Promise<number> {
  return database.transaction(async (transaction) => {
    const campaign = await lockCampaign(transaction, campaignId);
    if (campaign.preparation_status !== 'READY' || nextCampaignStatus(campaign.status, 'begin') === undefined)
      return 0;
    if (campaign.due_in_ms > 0) return campaign.due_in_ms;
    const obstacle = await findObstacle(transaction, campaign);
    if (obstacle === null && campaign.total_contacts > slowStartSize)
      await startSlowly(transaction, campaignId);
    if (obstacle === null) await acceptCategory(transaction, campaignId);
    await moveCampaign(transaction, campaign, obstacle === null ? 'begin' : 'pause', obstacle);
    logger.info(
      { campaignId, pauseReason: obstacle },
      obstacle === null ? 'campaign begins' : 'campaign paused',
    );
    return 0;
  });
}

async function findObstacle(transaction: Connection, campaign: LockedCampaign): Promise<PauseReason | null> {
  if (campaign.template_vanished || !isSendable(campaign.template_status)) return 'TEMPLATE_UNAVAILABLE';
  if (campaign.channel_status !== 'active' || campaign.number_blocked) return 'CHANNEL_BLOCKED';
  if ((await offerEndingBeforeSending(transaction, campaign.id, new Date())) !== undefined)
    return 'TEMPLATE_UNAVAILABLE';
  return (await countBroadcast(transaction, campaign)) ? null : 'BROADCAST_QUOTA';
}
