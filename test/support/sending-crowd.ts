/** Campaigns of one channel, each sent as its workflow has it sent: step after step, a timer between, woken when called. */
import { sql } from 'slonik';
import { runSendStep } from '../../src/commands/sending/run-send-step.ts';
import { settleCampaign } from '../../src/commands/campaigns/settle-campaign.ts';
import type { Dependencies } from '../../src/dependencies.ts';
import { getCampaignStanding } from '../../src/records/campaigns/standing.ts';
import type { Database } from '../../src/records/database/database.ts';
import { nothing } from '../../src/records/database/row.ts';
import { seedCampaign, type CampaignSeed, type SeededCampaign } from './campaign-factory.ts';
import { sendingDependencies } from './sending-dependencies.ts';

/** The first has a channel of its own; the others are put on it. */
export async function seedOnChannel(
  database: Database,
  first: SeededCampaign,
  seed: CampaignSeed,
): Promise<SeededCampaign> {
  const { campaignId } = await seedCampaign(database, { ...seed, balance: 0n });
  await database.query(sql.type(nothing)`
    UPDATE campaign SET channel_id = ${first.channelId}, workspace_id = ${first.workspaceId},
      template_id = ${first.templateId} WHERE id = ${campaignId}`);
  return { ...first, campaignId };
}

export interface Crowd {
  readonly dependencies: Dependencies;
  /** How many steps were asked for. */
  readonly steps: () => number;
  /** Resolves when the campaign is drained or does not run any more. */
  readonly drive: (campaign: SeededCampaign) => Promise<void>;
  /** Ends every step in order. */
  readonly stop: () => Promise<void>;
}

export function createCrowd(outside: Parameters<typeof sendingDependencies>[0]): Crowd {
  const waiting = new Map<string, () => void>();
  const driving: Promise<void>[] = [];
  let steps = 0;
  let over = false;
  const dependencies = sendingDependencies({
    ...outside,
    orchestrator: {
      refreshCampaign: async (id) => {
        waiting.get(id)?.();
        return true;
      },
    },
  });
  const wait = (campaignId: string, ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      waiting.set(campaignId, () => {
        clearTimeout(timer);
        resolve();
      });
    });
  const run = async ({ campaignId }: SeededCampaign): Promise<void> => {
    for (;;) {
      if (over) return;
      steps += 1;
      const options = { budgetMs: 10_000, draining: () => over };
      const { drained, waitMs } = await runSendStep(dependencies, campaignId, options);
      if (drained) {
        await settleCampaign(dependencies, campaignId);
        return;
      }
      if ((await getCampaignStanding(dependencies.database, campaignId)).status !== 'RUNNING') return;
      if (waitMs > 0 && !over) await wait(campaignId, waitMs);
    }
  };
  return {
    dependencies,
    steps: () => steps,
    drive: (campaign) => {
      const done = run(campaign);
      driving.push(done);
      return done;
    },
    async stop() {
      over = true;
      for (const wake of waiting.values()) wake();
      await Promise.all(driving);
    },
  };
}
