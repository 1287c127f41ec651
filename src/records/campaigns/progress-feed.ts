/**
 * Live progress of campaigns. A process polls the database once a second for all followed campaigns together, and not at all
 * while there is no follower.
 */
import * as t from 'io-ts';
import { sql } from 'slonik';
import { oneOf } from '../../codecs/struct.ts';
import { withCallContext } from '../../concurrency/call-context.ts';
import {
  campaignStatuses,
  isFinished,
  pauseReasons,
  preparationStatuses,
} from '../../domain/campaigns/campaign.ts';
import { afterOpenTime } from '../../domain/campaigns/sending-window.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row } from '../database/row.ts';
import { answerColumns, answerFields } from './answers.ts';
import { contactTotals } from './campaign-snapshot.ts';
import { Windows, windowsColumn } from './sending-hours.ts';
import { counterColumns, counterFields } from './status-counters.ts';

// Status and counters of the campaigns that clients follow, by one statement for all of them.

const CampaignProgress = t.type({
  id: t.string,
  status: oneOf(campaignStatuses),
  pause_reason: nullable(oneOf(pauseReasons)),
  preparation_status: oneOf(preparationStatuses),
  total_contacts: t.number,
  total_contacts_skipped: t.number,
  /** Sending windows that must all be open. */
  windows: Windows,
  ...counterFields,
  ...answerFields,
  /** Micro-units. */
  charged: t.bigint,
});
type CampaignProgress = t.TypeOf<typeof CampaignProgress>;

function listCampaignProgress(connection: Connection, campaignIds: readonly string[]) {
  return connection.any(sql.type(row(CampaignProgress))`
    SELECT campaign.id, campaign.status, pause_reason, preparation_status, ${contactTotals}, ${windowsColumn} AS windows,
      ${counterColumns}, ${answerColumns}, charged
    FROM campaign JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id
    JOIN template ON template.id = campaign.template_id
    WHERE campaign.id = ANY (${sql.array(campaignIds, 'uuid')})`);
}

// How fast a campaign sends, from samples of its counters.

/** Recipients with an outcome at an instant. */
export interface ProgressSample {
  readonly atMs: number;
  readonly done: number;
}

const windowMs = 10_000;

/** Adds a sample and drops those before the window. */
export function withSample(
  samples: readonly ProgressSample[],
  sample: ProgressSample,
): readonly ProgressSample[] {
  // Keeps the last sample before the window, so that the samples span all of it.
  const first = samples.findLastIndex(({ atMs }) => atMs <= sample.atMs - windowMs);
  return [...samples.slice(Math.max(0, first)), sample];
}

/** Recipients a second over the samples, rounded to a tenth; 0 with a single sample. */
export function rateOf(samples: readonly ProgressSample[]): number {
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined || last.atMs <= first.atMs) return 0;
  return Math.max(0, Math.round(((last.done - first.done) * 10_000) / (last.atMs - first.atMs)) / 10);
}

/** Seconds until all pending recipients have been sent to at this rate; null if unknown. */
export function secondsLeft(pending: number, rate: number): number | null {
  return pending === 0 || rate <= 0 ? null : Math.ceil(pending / rate);
}

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

/** Seconds until all recipients have been sent to, at the current rate and within the sending windows; null if unknown. */
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
    for (const campaign of found) {
      const followed = campaigns.get(campaign.id);
      if (followed === undefined) continue;
      const { accepted, sent, delivered, read, failed, unknown } = campaign;
      const done = accepted + sent + delivered + read + failed + unknown;
      followed.samples = withSample(followed.samples, { atMs, done });
      const rate = campaign.status === 'RUNNING' ? rateOf(followed.samples) : 0;
      const progress = {
        ...campaign,
        rate,
        etaSeconds: etaOf(campaign, rate),
        isFinished: isFinished(campaign.status),
      };
      followed.latest = progress;
      for (const notify of followed.followers) notify(progress);
    }
  };

  // After a failure the next poll tries again; followers see no event in the meantime.
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
