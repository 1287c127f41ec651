/** POST /api/campaigns/:id/start, /pause and /cancel. */
import { idOf } from '../../codecs/scalars.ts';
import { struct } from '../../codecs/struct.ts';
import {
  cancelCampaign,
  pauseCampaign,
  startCampaignAgain,
} from '../../commands/campaigns/change-campaign.ts';
import { getCampaignReport } from '../../records/campaigns/report.ts';
import { endpoint } from '../frame/endpoint.ts';
import { record, succeed } from '../frame/envelope.ts';
import { CampaignDetail, campaignDetailExample, presentCampaignDetail } from './report-codec.ts';

const CampaignId = struct({ id: idOf('Campaign') });
const example = { status: 'success', data: campaignDetailExample };

const move = (
  name: 'start' | 'pause' | 'cancel',
  { summary, shown }: { readonly summary: string; readonly shown: object },
  change: typeof startCampaignAgain | typeof pauseCampaign | typeof cancelCampaign,
) =>
  endpoint(
    {
      method: 'POST',
      path: `/api/campaigns/:id/${name}`,
      operationId: `${name}Campaign`,
      summary,
      tag: 'Campaigns',
      access: 'workspace',
      params: CampaignId,
      responses: {
        202: {
          description: 'The campaign as it is now',
          body: record(CampaignDetail),
          example: { ...example, data: { ...campaignDetailExample, ...shown } },
        },
      },
      errors: [409],
    },
    async ({ dependencies, principal, params }) => {
      await change(dependencies, { campaignId: params.id, workspaceId: principal.workspaceId });
      const report = await getCampaignReport(dependencies.database, principal.workspaceId, params.id);
      return { status: 202, body: succeed(presentCampaignDetail(report)) };
    },
  );

export const startCampaign = move(
  'start',
  {
    summary: 'Start a paused campaign again, where it stopped; one that is not due yet waits for its time',
    shown: { status: 'RUNNING' },
  },
  startCampaignAgain,
);
export const pauseCampaignEndpoint = move(
  'pause',
  { summary: 'Pause a campaign', shown: { status: 'PAUSED', pause_reason: 'OPERATOR' } },
  pauseCampaign,
);
export const cancelCampaignEndpoint = move(
  'cancel',
  {
    summary: 'Cancel a campaign: who was not sent to, never will be',
    shown: { status: 'CANCELLED' },
  },
  cancelCampaign,
);
