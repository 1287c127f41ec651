/** Endpoints that follow a campaign: GET /api/campaigns/:id/timeline, /diagnosis and /stream. */
import * as t from 'io-ts';
import { describe, named } from '../../codecs/json-schema.ts';
import { idOf, Integer, IsoDateTime } from '../../codecs/scalars.ts';
import { nullish, oneOf, optional, struct } from '../../codecs/struct.ts';
import { Amount } from '../../codecs/wallet.ts';
import { diagnosisChecks } from '../../domain/campaigns/diagnosis-facts.ts';
import { diagnose } from '../../domain/campaigns/diagnosis.ts';
import { getCampaign } from '../../records/campaigns/campaigns.ts';
import { getCampaignFacts } from '../../records/campaigns/diagnosis.ts';
import { listTimeline, timelineIntervals } from '../../records/campaigns/timeline.ts';
import { endpoint } from '../frame/endpoint.ts';
import { answer, succeed } from '../frame/envelope.ts';
import { CampaignStreamEvent, eventStream } from './progress-events.ts';

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
              'Paused: the wallet holds 0.02 USD and the next message costs 0.025 USD. 812 people wait.',
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

export const streamCampaign = endpoint(
  {
    method: 'GET',
    path: '/api/campaigns/:id/stream',
    operationId: 'streamCampaign',
    summary: 'Stream the progress of a campaign',
    description:
      'Server-sent events with JSON in `data`; the schema describes one event. `progress` follows every change, at most once a second; `end` comes last, when nothing but receipts can still change the campaign. A comment every 15 seconds keeps the connection open. A stream ends after an hour; open another one then. A workspace may have 20 streams at a time.',
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
