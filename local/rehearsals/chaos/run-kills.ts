/** SIGKILL to processes of the stack, by seeded chance, at even steps of the campaign. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { OwnedProcess } from '../../stack/dev-file.ts';
import { liveDevFile, untilShare, type WatchedCampaign } from './campaign.ts';
import { createRandom } from '../../simulator/protocol/random.ts';

const victims: readonly OwnedProcess[] = ['worker', 'api', 'temporal', 'postgres'];
const longestPauseMs = 300;

export interface KillPlan {
  readonly kills: number;
  readonly seed: number;
  readonly say: (line: string) => void;
}

/** Resolves right after the last kill, to how often each process was killed. */
export async function runKills(
  campaign: WatchedCampaign,
  { kills, seed, say }: KillPlan,
): Promise<ReadonlyMap<OwnedProcess, number>> {
  const random = createRandom(seed);
  const counts = new Map<OwnedProcess, number>();
  for (let kill = 1; kill <= kills; kill += 1) {
    await untilShare(campaign, kill / (kills + 1));
    await sleep(random() * longestPauseMs);
    const victim = victims[Math.floor(random() * victims.length)] ?? 'worker';
    await untilKilled(campaign.dataDir, victim);
    counts.set(victim, (counts.get(victim) ?? 0) + 1);
    say(`kill ${kill}: ${victim}`);
  }
  return counts;
}

/** A victim that is just being started again from its last kill is waited for, so that every kill hits. */
async function untilKilled(dataDir: string, victim: OwnedProcess): Promise<void> {
  for (;;) {
    const pid = (await liveDevFile(dataDir)).pids[victim];
    try {
      if (pid !== undefined) {
        process.kill(pid, 'SIGKILL');
        return;
      }
    } catch {
      // Dead already: dev.json tells the next process soon.
    }
    await sleep(50);
  }
}
