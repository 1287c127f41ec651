/** Endpoints that follow a campaign: GET /api/campaigns/:id/timeline, /diagnosis and /stream. */
import * as t from 'io-ts';
import { Readable } from 'node:stream';
import { describe, named } from '../../codecs/json-schema.ts';
import { idOf, Integer, IsoDateTime, Uuid } from '../../codecs/scalars.ts';
import { nullish, oneOf, optional, struct } from '../../codecs/struct.ts';
import { Amount } from '../../codecs/wallet.ts';
import { diagnosisChecks } from '../../domain/campaigns/diagnosis-facts.ts';
import { diagnose } from '../../domain/campaigns/diagnosis.ts';
import { getCampaign } from '../../records/campaigns/campaigns.ts';
import { getCampaignFacts } from '../../records/campaigns/diagnosis.ts';
import { listTimeline, timelineIntervals } from '../../records/campaigns/status-counters.ts';
import { endpoint, type EndpointRequest } from '../frame/endpoint.ts';
import { answer, succeed } from '../frame/envelope.ts';
import { ShapesType } from '../../codecs/struct-type.ts';
import { campaignStatuses, pauseReasons, preparationStatuses } from '../../domain/campaigns/campaign.ts';
import type { Progress, ProgressFeed } from '../../records/campaigns/progress-feed.ts';
import { formatAmount } from '../../domain/money.ts';
import { Counters } from './report-codec.ts';

const CampaignId = struct({ id: idOf('Campaign') });
const mostParts = 1_500;

export const getCampaignTimeline = endpoint(
  {
    method: 'GET',
    path: '/api/campaigns/:id/timeline',
    operationId: 'getCampaignTimeline',
    summary: 'Read the timeline of a campaign',
    description: `Returns the latest ${mostParts} intervals; empty ones are omitted.`,
    tag: 'Campaigns',
    access: 'workspace',
    params: CampaignId,
    query: optional({
      interval: describe(oneOf(timelineIntervals, 'TimelineInterval'), {
        description: 'Length of an interval; default `minute`.',
      }),
    }),
    responses: {
      200: answer(
        'Intervals in order',
        t.readonlyArray(
          named(
            'TimelinePart',
            struct({
              at: IsoDateTime,
              accepted: Integer,
              delivered: Integer,
              read: Integer,
              failed: Integer,
            }),
          ),
        ),
        [{ at: '2026-11-21T09:00:00.000Z', accepted: 4680, delivered: 4120, read: 1730, failed: 12 }],
      ),
    },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id: campaignId }, query }) => {
    const parts = { interval: query.interval ?? 'minute', limit: mostParts };
    const list = await listTimeline(database, { workspaceId, campaignId }, parts);
    const content = `{"status":"success","data":${list}}`;
    return { status: 200, content, contentType: 'application/json; charset=utf-8' };
  },
);

export const getCampaignDiagnosis = endpoint(
  {
    method: 'GET',
    path: '/api/campaigns/:id/diagnosis',
    operationId: 'getCampaignDiagnosis',
    summary: 'Diagnose why a campaign sends or does not',
    description: 'The first entry (`STATUS`) is the summary; the others are the checks behind it.',
    tag: 'Campaigns',
    access: 'workspace',
    params: CampaignId,
    responses: {
      200: answer(
        'Checks; `ok` is false for each that prevents sending',
        t.readonlyArray(
          named(
            'DiagnosisEntry',
            struct(
              {
                check: oneOf(diagnosisChecks, 'DiagnosisCheck'),
                ok: t.boolean,
                detail: t.string,
                action: nullish(t.string),
              },
              {
                missing: describe(Amount, {
                  description:
                    'Amount the wallet lacks to send to all waiting recipients, as a decimal string; absent if nothing is missing.',
                }),
              },
            ),
          ),
        ),
        [
          {
            check: 'STATUS',
            ok: false,
            detail:
              'Paused: the wallet holds 0.02 USD and the next message costs 0.025 USD. 812 people still to send.',
            action: 'Recharge at least 20.28 USD to send to all, then start the campaign again.',
          },
        ],
      ),
    },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id } }) => ({
    status: 200,
    body: succeed(diagnose(await getCampaignFacts(database, workspaceId, id))),
  }),
);

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
const CampaignStreamEvent = new ShapesType([
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

export const streamCampaign = endpoint(
  {
    method: 'GET',
    path: '/api/campaigns/:id/stream',
    operationId: 'streamCampaign',
    summary: 'Stream the progress of a campaign',
    description:
      'Server-sent events with JSON in `data`; the schema describes one event. `progress` follows every change, at most once a second, and is repeated after ten seconds without one, so that a longer silence means a lost connection; `end` comes last, when nothing but receipts can still change the campaign. A comment every 15 seconds keeps the connection open. A stream ends after an hour; open another one then. A workspace may have 20 streams at a time.',
    tag: 'Campaigns',
    access: 'workspace',
    stream: true,
    params: CampaignId,
    responses: { 200: { description: 'The events', content: { 'text/event-stream': CampaignStreamEvent } } },
  },
  async ({ dependencies, principal: { workspaceId }, params: { id }, request }) => {
    await getCampaign(dependencies.database, workspaceId, id);
    return {
      status: 200,
      content: eventStream(dependencies.progressFeed, id, request),
      contentType: 'text/event-stream; charset=utf-8',
      // Tells proxies such as nginx not to buffer the events.
      headers: { 'X-Accel-Buffering': 'no' },
    };
  },
);

type StreamRequest = Pick<EndpointRequest, 'isStopping' | 'isStillAllowed'>;

const repeatAfterMs = 10_000;
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
  let commentedAt = beganAt;
  let allowedAt = beganAt;
  try {
    yield 'retry: 1000\n\n';
    while (!request.isStopping() && performance.now() - beganAt < longestMs) {
      const text = latest === undefined ? sentText : JSON.stringify(present(latest));
      const now = performance.now();
      if (text !== sentText || (text !== '' && now - sentAt >= repeatAfterMs)) {
        sentText = text;
        sentAt = now;
        yield `event: progress\ndata: ${text}\n\n`;
      }
      if (now - commentedAt >= commentEveryMs) {
        commentedAt = now;
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
  const { replied, opted_out, buttons } = progress;
  return {
    id: progress.id,
    status: progress.status,
    pause_reason: progress.pause_reason,
    preparation_status: progress.preparation_status,
    total_contacts: progress.total_contacts,
    total_contacts_skipped: progress.total_contacts_skipped,
    counters: {
      pending,
      claimed,
      accepted,
      sent,
      delivered,
      read,
      failed,
      unknown,
      cancelled,
      skipped,
      replied,
      opted_out,
      buttons,
    },
    charged: formatAmount(progress.charged),
    rate: progress.rate,
    eta_seconds: progress.etaSeconds,
  };
}
