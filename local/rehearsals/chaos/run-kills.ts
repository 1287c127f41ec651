/** Kills processes of the stack with SIGKILL, chosen at random from a seed, at even steps of the campaign's progress. */
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

/** Waits for a process that is still restarting after its last kill, so that every kill hits a running one. */
async function untilKilled(dataDir: string, victim: OwnedProcess): Promise<void> {
  for (;;) {
    const pid = (await liveDevFile(dataDir)).pids[victim];
    try {
      if (pid !== undefined) {
        process.kill(pid, 'SIGKILL');
        return;
      }
    } catch {
      // The process is dead already: waits until dev.json names the next one.
    }
    await sleep(50);
  }
}
