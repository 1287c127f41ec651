/** Runs one send step of a campaign. When a step hands its slot over, the workflow begins the next one beside it. */
import type { Dependencies } from '../../dependencies.ts';
import { nextCampaignStatus } from '../../domain/campaigns/campaign.ts';
import { lockCampaign, moveCampaign } from '../../records/campaigns/lifecycle.ts';
import { getSendingHours } from '../../records/campaigns/sending-hours.ts';
import { runSendStep, type StepResult } from '../sending/run-send-step.ts';
import { ProviderTraffic } from '../sending/throughput.ts';
import { checkSendingHours } from './sending-hours.ts';

const longStepMs = 10_000;
/** With more than `crowdedAt` steps in a process, short steps bring each campaign's next slot sooner. */
const shortStepMs = 1_000;
const crowdedAt = 50;

export interface SendCampaignOptions {
  /**
   * Highest claimed position that the workflow has seen. A record with a lower one was restored from a backup: the campaign
   * is paused, because recipients that look pending may have been sent to.
   */
  readonly claimedUpTo: number;
  readonly draining: () => boolean;
}

/** Create one per process: it counts the steps that run concurrently, and their messages without an answer. */
export function createCampaignSender(dependencies: Dependencies) {
  let running = 0;
  const traffic = new ProviderTraffic();
  return async (campaignId: string, { claimedUpTo, draining }: SendCampaignOptions): Promise<StepResult> => {
    const hours = await getSendingHours(dependencies.database, campaignId);
    if (hours.claimedPosition < claimedUpTo) {
      await pauseOlderRecord(dependencies, { campaignId, claimedUpTo, ...hours });
      return { waitMs: 0, drained: false };
    }
    const open = await checkSendingHours(dependencies, campaignId, hours);
    if (!open.isOpen) return { waitMs: open.waitMs, drained: false };
    running += 1;
    try {
      return await runSendStep(dependencies, campaignId, {
        budgetMs: running > crowdedAt ? shortStepMs : longStepMs,
        isFollowed: true,
        traffic,
        draining: () => draining() || open.isOver(),
      });
    } finally {
      running -= 1;
    }
  };
}

interface OlderRecord {
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
async function pauseOlderRecord(
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
