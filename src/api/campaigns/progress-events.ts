/** The progress of one campaign as server-sent events. */
import { Readable } from 'node:stream';
import * as t from 'io-ts';
import { describe, named } from '../../codecs/json-schema.ts';
import { Integer, Uuid } from '../../codecs/scalars.ts';
import { ShapesType } from '../../codecs/struct-type.ts';
import { nullish, oneOf, struct } from '../../codecs/struct.ts';
import { Amount } from '../../codecs/wallet.ts';
import { campaignStatuses, pauseReasons, preparationStatuses } from '../../domain/campaigns/campaign.ts';
import type { Progress, ProgressFeed } from '../../records/campaigns/progress-feed.ts';
import { formatAmount } from '../../domain/money.ts';
import type { EndpointRequest } from '../frame/endpoint.ts';
import { Counters } from './report-codec.ts';

type StreamRequest = Pick<EndpointRequest, 'isStopping' | 'isStillAllowed'>;

const CampaignProgress = named(
  'CampaignProgress',
  struct({
    id: Uuid,
    status: oneOf(campaignStatuses, 'CampaignStatus'),
    pause_reason: nullish(oneOf(pauseReasons, 'PauseReason')),
    preparation_status: oneOf(preparationStatuses, 'PreparationStatus'),
    total_contacts: Integer,
    total_contacts_skipped: Integer,
    counters: Counters,
    charged: describe(Amount, { description: 'Cost of the campaign so far, as a decimal string.' }),
    rate: describe(t.number, { description: 'Messages per second at present.' }),
    eta_seconds: describe(nullish(t.number), {
      description: 'Estimated seconds until all recipients are sent to; null when unknown.',
    }),
  }),
);

/** One event of the stream. */
export const CampaignStreamEvent = new ShapesType([
  named(
    'CampaignProgressEvent',
    struct({
      event: t.literal('progress'),
      data: describe(CampaignProgress, { description: 'Progress of the campaign.' }),
    }),
  ),
  named(
    'CampaignEndEvent',
    struct({ event: t.literal('end'), data: describe(t.UnknownRecord, { description: 'Empty object.' }) }),
  ),
]);

const commentEveryMs = 15_000;
// Interval of the checks whether the key is still valid: a revoked key ends the stream within this time.
const checkEveryMs = 4_000;

/** 1 h: a client opens another stream then, so a forgotten one does not stay for ever. */
const longestMs = 3_600_000;

/** Ends with the campaign, with the process, after an hour, or when its credentials are no longer valid. */
export function eventStream(feed: ProgressFeed, campaignId: string, request: StreamRequest): Readable {
  return Readable.from(events(feed, campaignId, request), { objectMode: false });
}

async function* events(
  feed: ProgressFeed,
  campaignId: string,
  request: StreamRequest,
): AsyncGenerator<string> {
  let latest: Progress | undefined;
  let wake = (): void => undefined;
  const unfollow = feed.follow(campaignId, (progress) => {
    latest = progress;
    wake();
  });
  const pause = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, checkEveryMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  let sentText = '';
  const beganAt = performance.now();
  let sentAt = beganAt;
  let allowedAt = sentAt;
  try {
    yield 'retry: 1000\n\n';
    while (!request.isStopping() && performance.now() - beganAt < longestMs) {
      const text = latest === undefined ? sentText : JSON.stringify(present(latest));
      const now = performance.now();
      if (text !== sentText) {
        sentText = text;
        sentAt = now;
        yield `event: progress\ndata: ${text}\n\n`;
      } else if (now - sentAt >= commentEveryMs) {
        sentAt = now;
        yield ':\n\n';
      }
      if (latest?.isFinished === true) {
        yield 'event: end\ndata: {}\n\n';
        return;
      }
      await pause();
      if (performance.now() - allowedAt < checkEveryMs) continue;
      allowedAt = performance.now();
      if (!(await request.isStillAllowed())) return;
    }
  } finally {
    unfollow();
  }
}

function present(progress: Progress) {
  const { pending, claimed, accepted, sent, delivered, read, failed, unknown, cancelled, skipped } = progress;
  return {
    id: progress.id,
    status: progress.status,
    pause_reason: progress.pause_reason,
    preparation_status: progress.preparation_status,
    total_contacts: progress.total_contacts,
    total_contacts_skipped: progress.total_contacts_skipped,
    counters: { pending, claimed, accepted, sent, delivered, read, failed, unknown, cancelled, skipped },
    charged: formatAmount(progress.charged),
    rate: progress.rate,
    eta_seconds: progress.etaSeconds,
  };
}
