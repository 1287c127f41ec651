/** Ends a campaign in which nobody is left to be claimed, once nothing of it is open any more. */
import { nextCampaignStatus } from '../domain/campaign.ts';
import type { Dependencies } from '../dependencies.ts';
import { expireClaims, forgetClaims, nextClaimExpiry } from '../records/claim-expiry.ts';
import { getCampaignStanding } from '../records/campaign-standing.ts';
import { cancelPending, lockCampaign, moveCampaign } from '../records/campaign-lifecycle.ts';

type Settler = Pick<Dependencies, 'database' | 'config' | 'logger'>;

const longestWaitMs = 60_000;
const shortestWaitMs = 250;

/**
 * Moves the campaign to COMPLETED when nobody is PENDING or CLAIMED. Otherwise returns how long to wait before it is
 * worth trying again: until the oldest open claim expires, or a receipt may have settled it.
 */
export async function settleCampaign(
  { database, config, logger }: Settler,
  campaignId: string,
): Promise<number> {
  const grace = { campaignId, graceSeconds: config.outcomeGraceSeconds };
  await expireClaims(database, grace);
  const { counts } = await getCampaignStanding(database, campaignId);
  if (counts.pending > 0) return 0;
  if (counts.claimed > 0) {
    const expiresInMs = (await nextClaimExpiry(database, grace)) ?? shortestWaitMs;
    return Math.min(longestWaitMs, Math.max(shortestWaitMs, expiresInMs));
  }
  await database.transaction(async (transaction) => {
    const campaign = await lockCampaign(transaction, campaignId);
    await forgetClaims(transaction, campaignId);
    if (nextCampaignStatus(campaign.status, 'complete') === undefined) return;
    await moveCampaign(transaction, campaign, 'complete');
    logger.info({ campaignId, ...counts }, 'campaign completed');
  });
  return 0;
}

const cancelPageSize = 5_000;

/** Moves everybody who was not claimed to CANCELLED, page by page. May be run again. */
export async function cancelRecipients(
  { database }: Pick<Dependencies, 'database'>,
  campaignId: string,
  heartbeat: () => void,
): Promise<void> {
  let afterPosition: number | null = 0;
  while (afterPosition !== null) {
    afterPosition = await cancelPending(database, { campaignId, afterPosition, limit: cancelPageSize });
    heartbeat();
  }
}
