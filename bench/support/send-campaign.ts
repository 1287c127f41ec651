/** Runs send steps of seeded campaigns as the worker does, until no recipient is left. */
import { setTimeout as sleep } from 'node:timers/promises';
import { runSendStep } from '../../src/commands/sending/run-send-step.ts';
import type { Dependencies } from '../../src/dependencies.ts';

const budgetMs = 60_000;

export interface SentCampaign {
  readonly steps: number;
}

export async function sendCampaign(
  dependencies: Dependencies,
  campaignId: string,
  isDone: () => boolean = () => false,
): Promise<SentCampaign> {
  let steps = 0;
  while (!isDone()) {
    steps += 1;
    const { drained, waitMs } = await runSendStep(dependencies, campaignId, { budgetMs, draining: isDone });
    if (drained) break;
    if (waitMs > 0) await sleep(waitMs);
  }
  return { steps };
}
