/** One step of a campaign's sending, as its workflow runs them one after the other. */
import type { Dependencies } from '../../dependencies.ts';
import { pauseOlderRecord } from '../sending/pause-older-record.ts';
import { runSendStep, type StepResult } from '../sending/run-send-step.ts';

const longStepMs = 10_000;
/** With more than `crowdedAt` steps in a process, short steps bring each campaign's next slot sooner. */
const shortStepMs = 1_000;
const crowdedAt = 50;

export interface SendCampaignOptions {
  /** What the workflow has seen claimed: a record that knows less was restored from a backup, and sends nothing. */
  readonly claimedUpTo: number;
  readonly draining: () => boolean;
}

/** One for each process: it counts the steps that run side by side. */
export function createCampaignSender(dependencies: Dependencies) {
  let running = 0;
  return async (campaignId: string, { claimedUpTo, draining }: SendCampaignOptions): Promise<StepResult> => {
    if (await pauseOlderRecord(dependencies, { campaignId, claimedUpTo }))
      return { waitMs: 0, drained: false };
    running += 1;
    try {
      const budgetMs = running > crowdedAt ? shortStepMs : longStepMs;
      return await runSendStep(dependencies, campaignId, { budgetMs, isFollowed: true, draining });
    } finally {
      running -= 1;
    }
  };
}
