import { nextCampaignStatus } from '../../domain/campaigns/campaign.ts';
import type { Dependencies } from '../../dependencies.ts';
import { lockCampaign, moveCampaign } from '../../records/campaigns/lifecycle.ts';
import { getCampaignCounts } from '../../records/campaigns/campaign-snapshot.ts';

/**
 * Pauses the campaign, and returns true, if its workflow has seen higher positions claimed than the record has: the database was
 * restored to an earlier time, and recipients that were sent to since look unsent. The admin command `doctor` settles them.
 */
export async function pauseOlderRecord(
  { database, logger }: Pick<Dependencies, 'database' | 'logger'>,
  { campaignId, claimedUpTo }: { readonly campaignId: string; readonly claimedUpTo: number },
): Promise<boolean> {
  const { claimedPosition } = await getCampaignCounts(database, campaignId);
  if (claimedPosition >= claimedUpTo) return false;
  await database.transaction(async (transaction) => {
    const campaign = await lockCampaign(transaction, campaignId);
    if (nextCampaignStatus(campaign.status, 'pause') === undefined) return;
    await moveCampaign(transaction, campaign, 'pause', 'RECORD_RESTORED');
    logger.error(
      { campaignId, claimedPosition, claimedUpTo },
      'campaign paused: its record is older than its workflow, run the admin command doctor',
    );
  });
  return true;
}
