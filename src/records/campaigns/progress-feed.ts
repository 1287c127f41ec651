/**
 * Live progress of campaigns. A process polls the database once a second for all followed campaigns together, and not at all
 * while there is no follower.
 */
import { withCallContext } from '../../concurrency/call-context.ts';
import { isFinished } from '../../domain/campaigns/campaign.ts';
import { rateOf, secondsLeft, withSample, type ProgressSample } from '../../domain/campaigns/pace.ts';
import { afterOpenTime } from '../../domain/campaigns/sending-window.ts';
import { listCampaignProgress, type CampaignProgress } from './progress.ts';
import type { Connection } from '../database/database.ts';

export interface Progress extends CampaignProgress {
  /** Messages a second over the last ten seconds. */
  readonly rate: number;
  readonly etaSeconds: number | null;
  /** True when only delivery statuses can still change the progress. */
  readonly isFinished: boolean;
}

export interface ProgressFeed {
  /** Calls back after each poll, the first time at once. Returns the function that stops it. */
  readonly follow: (campaignId: string, onProgress: (progress: Progress) => void) => () => void;
}

interface Followed {
  readonly followers: Set<(progress: Progress) => void>;
  samples: readonly ProgressSample[];
  latest: Progress | undefined;
}

const everyMs = 1_000;

/** Seconds until all recipients are sent to, at the present rate and within the sending windows; null when unknown. */
function etaOf({ pending, windows }: CampaignProgress, rate: number): number | null {
  const seconds = secondsLeft(pending, rate);
  if (seconds === null || windows.length === 0) return seconds;
  const now = new Date();
  const end = afterOpenTime(windows, now, seconds);
  return end === null ? null : Math.ceil((end.getTime() - now.getTime()) / 1_000);
}

export function createProgressFeed(database: Connection): ProgressFeed {
  const campaigns = new Map<string, Followed>();
  let timer: NodeJS.Timeout | undefined;
  let soon: NodeJS.Immediate | undefined;

  const poll = async (): Promise<void> => {
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
        etaSeconds: etaOf(row, rate),
        isFinished: isFinished(row.status),
      };
      followed.latest = progress;
      for (const notify of followed.followers) notify(progress);
    }
  };

  // After a failure the next poll tries again; followers see no event meanwhile.
  const run = (): void => {
    timer = undefined;
    poll()
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
      // The first follower of a campaign does not wait for the next second; one poll for all that come in the same tick.
      else
        soon ??= setImmediate(() => {
          soon = undefined;
          clearTimeout(timer);
          // The poll reads campaigns of all workspaces, so it does not count against the workspace of this follower.
          withCallContext({ workspaceId: undefined }, run);
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
