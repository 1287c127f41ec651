import { nextCampaignStatus } from '../../domain/campaigns/campaign.ts';
import type { Dependencies } from '../../dependencies.ts';
import { lockCampaign, moveCampaign } from '../../records/campaigns/lifecycle.ts';

export interface OlderRecord {
  readonly campaignId: string;
  /** Highest claimed position in the campaign's record. */
  readonly claimedPosition: number;
  /** Highest claimed position that the campaign's workflow has seen. */
  readonly claimedUpTo: number;
}

/**
 * Pauses a campaign whose workflow has seen a higher claimed position than its record has: the database was restored from a
 * backup, and recipients sent to since then look pending. The admin command `doctor` settles them.
 */
export async function pauseOlderRecord(
  { database, logger }: Pick<Dependencies, 'database' | 'logger'>,
  { campaignId, claimedPosition, claimedUpTo }: OlderRecord,
): Promise<void> {
  await database.transaction(async (transaction) => {
    const campaign = await lockCampaign(transaction, campaignId);
    if (nextCampaignStatus(campaign.status, 'pause') === undefined) return;
    await moveCampaign(transaction, campaign, 'pause', 'RECORD_RESTORED');
    logger.error(
      { campaignId, claimedPosition, claimedUpTo },
      'campaign paused: its record is older than its workflow, run the admin command doctor',
    );
  });
}
