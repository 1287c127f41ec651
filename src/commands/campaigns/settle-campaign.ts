/** Completes a campaign once no recipient is PENDING or CLAIMED; cancels the recipients of a cancelled campaign. */
import { nextCampaignStatus } from '../../domain/campaigns/campaign.ts';
import type { Dependencies } from '../../dependencies.ts';
import {
  expireClaims,
  forgetClaims,
  giveUpUnclaimed,
  nextClaimExpiry,
} from '../../records/sending/claim-expiry.ts';
import { deleteCampaignInput } from '../../records/campaigns/files.ts';
import { getCampaignCounts } from '../../records/campaigns/campaign-snapshot.ts';
import { cancelPending, lockCampaign, moveCampaign } from '../../records/campaigns/lifecycle.ts';

type SettlingDependencies = Pick<Dependencies, 'database' | 'config' | 'logger' | 'metrics'>;

const longestWaitMs = 60_000;
const shortestWaitMs = 250;

/**
 * Moves the campaign to COMPLETED if no recipient is PENDING or CLAIMED. Otherwise returns the ms until the next attempt, by
 * which time the oldest open claim has expired or a receipt may have resolved it.
 */
export async function settleCampaign(
  { database, config, logger, metrics }: SettlingDependencies,
  campaignId: string,
): Promise<number> {
  const grace = { campaignId, graceSeconds: config.outcomeGraceSeconds };
  let counts = await getCampaignCounts(database, campaignId);
  if (counts.claimed > 0) {
    metrics.recipientChanges.inc({ state: 'unknown' }, await expireClaims(database, grace));
    counts = await getCampaignCounts(database, campaignId);
  }
  if (counts.pending > 0) return 0;
  if (counts.claimed > 0) {
    const expiresInMs = await nextClaimExpiry(database, grace);
    if (expiresInMs !== null) return Math.min(longestWaitMs, Math.max(shortestWaitMs, expiresInMs));
    // Without an open claim, no process will record these recipients. Every write keeps claims and recipients consistent, so
    // this is a defect: give the recipients up and log an error.
    const lost = await giveUpUnclaimed(database, campaignId);
    if (lost > 0) logger.error({ campaignId, lost }, 'recipients were CLAIMED without an open claim');
    metrics.recipientChanges.inc({ state: 'unknown' }, lost);
    return shortestWaitMs;
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

/**
 * Moves all PENDING recipients to CANCELLED, batch by batch. While messages are claimed, returns the ms until the next attempt:
 * a running step returns the unsent part of its batch, and the batch of a crashed step becomes UNKNOWN after the grace period.
 * Returns 0 once nothing is open. Safe to run again.
 */
export async function cancelRecipients(
  dependencies: Pick<SettlingDependencies, 'database' | 'config' | 'metrics'>,
  campaignId: string,
  heartbeat: () => void,
): Promise<number> {
  const { database, config, metrics } = dependencies;
  const grace = { campaignId, graceSeconds: config.outcomeGraceSeconds };
  await cancelWaiting(dependencies, campaignId, heartbeat);
  metrics.recipientChanges.inc({ state: 'unknown' }, await expireClaims(database, grace));
  const { pending, claimed } = await getCampaignCounts(database, campaignId);
  if (pending > 0) return shortestWaitMs;
  if (claimed > 0) {
    const expiresInMs = (await nextClaimExpiry(database, grace)) ?? 0;
    return Math.min(longestWaitMs, Math.max(shortestWaitMs, expiresInMs));
  }
  await forgetClaims(database, campaignId);
  // An interrupted preparation leaves its input behind.
  await deleteCampaignInput(database, campaignId);
  return 0;
}

async function cancelWaiting(
  { database, metrics }: Pick<SettlingDependencies, 'database' | 'metrics'>,
  campaignId: string,
  heartbeat: () => void,
): Promise<void> {
  for (;;) {
    const cancelled = await cancelPending(database, { campaignId, limit: cancelPageSize });
    heartbeat();
    if (cancelled === null) return;
    metrics.recipientChanges.inc({ state: 'cancelled' }, cancelled);
  }
}
