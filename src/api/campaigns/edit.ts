/** PATCH /api/campaigns/:id: name, description, sending hours and the time of a scheduled campaign. */
import * as t from 'io-ts';
import { idOf, IsoDateTime, textOf } from '../../codecs/scalars.ts';
import { SendingWindow, sendingWindowExample } from '../../codecs/sending-window.ts';
import { notBlank, nullish, optional, struct } from '../../codecs/struct.ts';
import { editCampaign } from '../../commands/campaigns/edit-campaign.ts';
import { getCampaignReport } from '../../records/campaigns/report.ts';
import { endpoint } from '../frame/endpoint.ts';
import { answerWith, succeedWith } from '../frame/envelope.ts';
import { CampaignDetail, campaignDetailExample, presentCampaignDetail } from './report-codec.ts';

const updated = 'Campaign updated successfully';

export const updateCampaign = endpoint(
  {
    method: 'PATCH',
    path: '/api/campaigns/:id',
    operationId: 'updateCampaign',
    summary: 'Change a campaign',
    description:
      'Omitted fields do not change. `sending_window: null` removes the campaign’s own window; a new window applies within two seconds, also to a running campaign. `ignore_quiet_hours` needs an operator’s key. `scheduled_at` reschedules a SCHEDULED campaign and must be in the future.',
    tag: 'Campaigns',
    access: 'workspace',
    params: struct({ id: idOf('Campaign') }),
    body: optional({
      name: notBlank(textOf({ max: 255 })),
      description: nullish(textOf({ max: 1000 })),
      sending_window: nullish(SendingWindow),
      ignore_quiet_hours: t.boolean,
      scheduled_at: IsoDateTime,
    }),
    bodyExample: { sending_window: sendingWindowExample },
    responses: {
      200: answerWith('Campaign after the change', updated, CampaignDetail, {
        ...campaignDetailExample,
        sending_window: sendingWindowExample,
      }),
    },
    errors: [409],
  },
  async ({ dependencies, principal, params: { id }, body }) => {
    await editCampaign(dependencies, principal, id, {
      name: body.name,
      description: body.description,
      sendingWindow: body.sending_window,
      ignoreQuietHours: body.ignore_quiet_hours,
      scheduledAt: body.scheduled_at,
    });
    const report = await getCampaignReport(dependencies.database, principal.workspaceId, id);
    return { status: 200, body: succeedWith(updated, presentCampaignDetail(report)) };
  },
);
