/** POST /api/campaigns/:id/start, /pause and /cancel. */
import * as t from 'io-ts';
import { describe } from '../../codecs/json-schema.ts';
import { idOf } from '../../codecs/scalars.ts';
import { optional, struct } from '../../codecs/struct.ts';
import {
  cancelCampaign,
  pauseCampaign,
  startCampaignAgain,
} from '../../commands/campaigns/change-campaign.ts';
import type { Dependencies } from '../../dependencies.ts';
import { getCampaignReport } from '../../records/campaigns/report.ts';
import { endpoint } from '../frame/endpoint.ts';
import { record, succeed } from '../frame/envelope.ts';
import { CampaignDetail, campaignDetailExample, presentCampaignDetail } from './report-codec.ts';

const CampaignId = struct({ id: idOf('Campaign') });
const example = { status: 'success', data: campaignDetailExample };

const StartCampaign = optional({
  force: describe(t.boolean, {
    description:
      '`true` resumes a campaign paused with MESSAGE_REJECTED although nothing was corrected; default `false`.',
  }),
});

const declarationOf = (
  name: 'start' | 'pause' | 'cancel',
  { summary, shown }: { readonly summary: string; readonly shown: object },
) =>
  ({
    method: 'POST',
    path: `/api/campaigns/:id/${name}`,
    operationId: `${name}Campaign`,
    summary,
    tag: 'Campaigns',
    access: 'workspace',
    params: CampaignId,
    responses: {
      202: {
        description: 'Campaign after the change',
        body: record(CampaignDetail),
        example: { ...example, data: { ...campaignDetailExample, ...shown } },
      },
    },
    errors: [409],
  }) as const;

async function answerWithRecord({ database }: Dependencies, workspaceId: number, campaignId: string) {
  const report = await getCampaignReport(database, workspaceId, campaignId);
  return { status: 202, body: succeed(presentCampaignDetail(report)) } as const;
}

const move = (
  name: 'pause' | 'cancel',
  words: { readonly summary: string; readonly shown: object },
  change: typeof pauseCampaign | typeof cancelCampaign,
) =>
  endpoint(
    declarationOf(name, words),
    async ({ dependencies, principal: { workspaceId }, params: { id: campaignId } }) => {
      await change(dependencies, { campaignId, workspaceId });
      return answerWithRecord(dependencies, workspaceId, campaignId);
    },
  );

export const startCampaign = endpoint(
  {
    ...declarationOf('start', {
      summary: 'Resume a paused campaign',
      shown: { status: 'RUNNING' },
    }),
    body: StartCampaign,
    bodyIsOptional: true,
    bodyExample: {},
  },
  async ({ dependencies, principal: { workspaceId }, params: { id: campaignId }, body }) => {
    await startCampaignAgain(dependencies, { campaignId, workspaceId, isForced: body.force === true });
    return answerWithRecord(dependencies, workspaceId, campaignId);
  },
);
export const pauseCampaignEndpoint = move(
  'pause',
  { summary: 'Pause a campaign', shown: { status: 'PAUSED', pause_reason: 'OPERATOR' } },
  pauseCampaign,
);
export const cancelCampaignEndpoint = move(
  'cancel',
  {
    summary: 'Cancel a campaign',
    shown: { status: 'CANCELLED' },
  },
  cancelCampaign,
);
