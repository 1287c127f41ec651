/** Sends seeded campaigns as the worker does: two lanes of steps each, until nobody is left. */
import { setTimeout as sleep } from 'node:timers/promises';
import { runSendStep } from '../../src/commands/sending/run-send-step.ts';
import type { Dependencies } from '../../src/dependencies.ts';

const lanes = 2;
const budgetMs = 10_000;

export interface SentCampaign {
  readonly steps: number;
}

export async function sendCampaign(
  dependencies: Dependencies,
  campaignId: string,
  isDone: () => boolean = () => false,
): Promise<SentCampaign> {
  let steps = 0;
  const lane = async (): Promise<void> => {
    while (!isDone()) {
      steps += 1;
      const { drained, waitMs } = await runSendStep(dependencies, campaignId, { budgetMs, draining: isDone });
      if (drained) return;
      if (waitMs > 0) await sleep(waitMs);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return { steps };
}
