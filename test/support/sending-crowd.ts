/** Sends campaigns of one channel as their workflows do: in steps with waits between them, which a signal ends at once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'slonik';
import { runSendStep } from '../../src/commands/sending/run-send-step.ts';
import { ProviderTraffic } from '../../src/commands/sending/throughput.ts';
import { settleCampaign } from '../../src/commands/campaigns/settle-campaign.ts';
import type { Dependencies } from '../../src/dependencies.ts';
import { getCampaignSnapshot } from '../../src/records/campaigns/campaign-snapshot.ts';
import type { Database } from '../../src/records/database/database.ts';
import { nothing } from '../../src/records/database/row.ts';
import { seedCampaign, type CampaignSeed, type SeededCampaign } from './campaign-factory.ts';
import { sendingDependencies } from './sending-dependencies.ts';

/** The first campaign creates the channel; the others use it. */
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
  /** Number of send steps that were started. */
  readonly steps: () => number;
  /** Resolves when the campaign is drained or does not run any more. */
  readonly drive: (campaign: SeededCampaign) => Promise<void>;
  /** Ends every step in order. */
  readonly stop: () => Promise<void>;
}

export function createCrowd(outside: Parameters<typeof sendingDependencies>[0]): Crowd {
  const calls = new Map<string, () => void>();
  const driving: Promise<void>[] = [];
  let steps = 0;
  let over = false;
  const dependencies = sendingDependencies({
    ...outside,
    orchestrator: {
      refreshCampaign: async (id) => {
        calls.get(id)?.();
        return true;
      },
    },
  });
  const traffic = new ProviderTraffic();
  const options = { budgetMs: 10_000, isFollowed: true, traffic, draining: () => over };
  const run = async ({ campaignId }: SeededCampaign): Promise<void> => {
    let drained = false;
    const running: Promise<void>[] = [];
    const isOver = () => over || drained;
    while (!isOver()) {
      steps += 1;
      const called = new Promise<'called'>((resolve) => calls.set(campaignId, () => resolve('called')));
      const step = runSendStep(dependencies, campaignId, options);
      const note = async () => {
        const result = await step;
        drained ||= result.drained;
      };
      running.push(note());
      const result = await Promise.race([step, called]);
      if (result === 'called' || drained) continue;
      if ((await getCampaignSnapshot(dependencies.database, campaignId)).status !== 'RUNNING') break;
      const { waitMs } = result;
      if (waitMs > 0 && !over) await Promise.race([called, sleep(waitMs, undefined, { ref: false })]);
    }
    await Promise.all(running);
    if (drained) await settleCampaign(dependencies, campaignId);
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
      for (const call of calls.values()) call();
      await Promise.all(driving);
    },
  };
}
