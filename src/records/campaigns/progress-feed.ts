/**
 * Live progress of campaigns. However many follow, a process asks the database once a second for all of them together, and not
 * at all while nobody does.
 */
import { isFinished } from '../../domain/campaigns/campaign.ts';
import { rateOf, secondsLeft, withSample, type ProgressSample } from '../../domain/campaigns/pace.ts';
import { listCampaignProgress, type CampaignProgress } from './progress.ts';
import type { Connection } from '../database/database.ts';

export interface Progress extends CampaignProgress {
  /** Messages a second over the last ten seconds. */
  readonly rate: number;
  readonly etaSeconds: number | null;
  /** Nothing of it will change but by receipts. */
  readonly isFinished: boolean;
}

export interface ProgressFeed {
  /** Calls back at each look, the first one soon. The answer stops it. */
  readonly follow: (campaignId: string, onProgress: (progress: Progress) => void) => () => void;
}

interface Followed {
  readonly followers: Set<(progress: Progress) => void>;
  samples: readonly ProgressSample[];
  latest: Progress | undefined;
}

const everyMs = 1_000;

export function createProgressFeed(database: Connection): ProgressFeed {
  const campaigns = new Map<string, Followed>();
  let timer: NodeJS.Timeout | undefined;
  let soon: NodeJS.Immediate | undefined;

  const look = async (): Promise<void> => {
    const found = await listCampaignProgress(database, [...campaigns.keys()]);
    const atMs = performance.now();
    for (const row of found) {
      const followed = campaigns.get(row.id);
      if (followed === undefined) continue;
      const { accepted, sent, delivered, read, failed, unknown } = row;
      const done = accepted + sent + delivered + read + failed + unknown;
      followed.samples = withSample(followed.samples, { atMs, done });
      const rate = row.status === 'RUNNING' ? rateOf(followed.samples) : 0;
      const progress = {
        ...row,
        rate,
        etaSeconds: secondsLeft(row.pending, rate),
        isFinished: isFinished(row.status),
      };
      followed.latest = progress;
      for (const tell of followed.followers) tell(progress);
    }
  };

  // A database that is away is tried again at the next look; who follows notices by the silence.
  const run = (): void => {
    timer = undefined;
    look()
      .catch(() => undefined)
      .finally(() => {
        if (campaigns.size > 0) timer ??= setTimeout(run, everyMs);
      });
  };

  return {
    follow(campaignId, onProgress) {
      const followed = campaigns.get(campaignId) ?? { followers: new Set(), samples: [], latest: undefined };
      campaigns.set(campaignId, followed);
      followed.followers.add(onProgress);
      if (followed.latest !== undefined) onProgress(followed.latest);
      // The first who follows a campaign need not wait for the next second; once for all that come at this moment.
      else
        soon ??= setImmediate(() => {
          soon = undefined;
          clearTimeout(timer);
          run();
        });
      return () => {
        followed.followers.delete(onProgress);
        if (followed.followers.size === 0) campaigns.delete(campaignId);
        if (campaigns.size > 0) return;
        clearTimeout(timer);
        timer = undefined;
      };
    },
  };
}
