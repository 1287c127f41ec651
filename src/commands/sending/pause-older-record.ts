import { nextCampaignStatus } from '../../domain/campaigns/campaign.ts';
import type { Dependencies } from '../../dependencies.ts';
import { lockCampaign, moveCampaign } from '../../records/campaigns/lifecycle.ts';
import { getCampaignCounts } from '../../records/campaigns/campaign-snapshot.ts';

/**
 * True when the campaign's workflow has seen more of it claimed than the record knows: the database was taken back to an
 * earlier time, and who was sent meanwhile looks as if nobody had written to them. The campaign is paused; `doctor` settles it.
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
