/** Requests that change one campaign: POST /api/campaigns/:id/start, /pause, /cancel and /test, and PATCH /api/campaigns/:id. */
import * as t from 'io-ts';
import { describe } from '../../codecs/json-schema.ts';
import { idOf, integerOf, IsoDateTime, textOf } from '../../codecs/scalars.ts';
import { notBlank, nullish, optional, struct } from '../../codecs/struct.ts';
import {
  cancelCampaign,
  pauseCampaign,
  startCampaignAgain,
} from '../../commands/campaigns/change-campaign.ts';
import { findObstacle } from '../../commands/workspaces/number-health.ts';
import type { Dependencies } from '../../dependencies.ts';
import { Conflict } from '../../domain/error.ts';
import { getCampaignReport } from '../../records/campaigns/report.ts';
import { getChannel } from '../../records/workspaces/channels.ts';
import { endpoint } from '../frame/endpoint.ts';
import { answerWith, ErrorEnvelope, record, succeed, succeedWith } from '../frame/envelope.ts';
import { CampaignDetail, campaignDetailExample, presentCampaignDetail } from './report-codec.ts';
import { MaxCost } from '../../codecs/wallet.ts';
import { parseAmount } from '../../domain/money.ts';
import { SendingWindow, sendingWindowExample } from '../../codecs/sending-window.ts';
import { editCampaign } from '../../commands/campaigns/edit-campaign.ts';
import { listOf } from '../../codecs/collections.ts';
import { testCampaign } from '../../commands/campaigns/test-campaign.ts';
import { sentAnswer, SentMessage, unknownAnswer } from '../messages.ts';

const CampaignId = struct({ id: idOf('Campaign') });
const example = { status: 'success', data: campaignDetailExample };

const StartCampaign = optional({
  force: describe(t.boolean, {
    description:
      '`true` resumes a campaign paused with FAILURES although nothing was corrected: the reason in `pause_evidence` no longer pauses it. Default `false`.',
  }),
  probe: describe(integerOf({ min: 1, max: 10_000 }), {
    description:
      'Sends to this many recipients, waits until 80 % of their statuses are known (at most 60 s), and pauses again if most of them failed.',
  }),
});

const declarationOf = (
  name: 'start' | 'pause' | 'cancel',
  { shown, ...words }: { readonly summary: string; readonly description?: string; readonly shown: object },
) =>
  ({
    method: 'POST',
    path: `/api/campaigns/:id/${name}`,
    operationId: `${name}Campaign`,
    ...words,
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

/** Throws Conflict if the provider lets the number of a paused campaign send nothing. */
async function requireSendingNumber(
  dependencies: Dependencies,
  workspaceId: number,
  campaignId: string,
): Promise<void> {
  const { status, channel_id } = await getCampaignReport(dependencies.database, workspaceId, campaignId);
  if (status !== 'PAUSED') return;
  const channel = await getChannel(dependencies.database, workspaceId, channel_id);
  const obstacle = await findObstacle(dependencies, channel);
  if (obstacle !== undefined) throw new Conflict(`The campaign is PAUSED. ${obstacle}`);
}

export const startCampaign = endpoint(
  {
    ...declarationOf('start', {
      summary: 'Resume a paused campaign',
      description: 'One paused with FAILURES needs `force` or `probe`.',
      shown: { status: 'RUNNING' },
    }),
    body: StartCampaign,
    bodyIsOptional: true,
    bodyExample: {},
  },
  async ({ dependencies, principal: { workspaceId }, params: { id: campaignId }, body }) => {
    await requireSendingNumber(dependencies, workspaceId, campaignId);
    await startCampaignAgain(dependencies, {
      campaignId,
      workspaceId,
      isForced: body.force === true,
      probe: body.probe,
    });
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

const updated = 'Campaign updated successfully';

export const updateCampaign = endpoint(
  {
    method: 'PATCH',
    path: '/api/campaigns/:id',
    operationId: 'updateCampaign',
    summary: 'Change a campaign',
    description:
      'Omitted fields do not change. `sending_window: null` removes the campaign’s own window; a new window applies within two seconds, also to a running campaign. `ignore_quiet_hours` and `ignore_frequency_cap` need an operator’s key; recipients that were skipped already stay skipped. `scheduled_at` reschedules a SCHEDULED campaign and must be in the future.',
    tag: 'Campaigns',
    access: 'workspace',
    params: struct({ id: idOf('Campaign') }),
    body: optional({
      name: notBlank(textOf({ max: 255 })),
      description: nullish(textOf({ max: 1000 })),
      sending_window: nullish(SendingWindow),
      ignore_quiet_hours: t.boolean,
      ignore_frequency_cap: t.boolean,
      scheduled_at: IsoDateTime,
      max_cost: describe(nullish(MaxCost), { description: 'New maximum of the cost; null removes it.' }),
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
      ignoreFrequencyCap: body.ignore_frequency_cap,
      scheduledAt: body.scheduled_at,
      maxCost: typeof body.max_cost === 'string' ? parseAmount(body.max_cost) : body.max_cost,
    });
    const report = await getCampaignReport(dependencies.database, principal.workspaceId, id);
    return { status: 200, body: succeedWith(updated, presentCampaignDetail(report)) };
  },
);

export const testCampaignEndpoint = endpoint(
  {
    method: 'POST',
    path: '/api/campaigns/:id/test',
    operationId: 'testCampaign',
    summary: 'Send a test message of a campaign to your own number',
    description:
      'Without `variables` the message has the values of the first prepared recipient. It is charged, and its events have `messageSource: campaign`.',
    tag: 'Campaigns',
    access: 'channel',
    params: struct({ id: idOf('Campaign') }),
    body: struct({ phone_number: t.string }, { variables: listOf(t.string) }),
    bodyExample: { phone_number: '+4915112345678', variables: ['Ada'] },
    responses: {
      200: answerWith(
        'The provider accepted the message',
        'Template message sent successfully',
        SentMessage,
        {
          messageId: '0197c1f2-7a6e-7b52-9a40-3f0f6a3c9d11',
          providerMessageId: 'wamid.HBgNNDkxNTExMjM0NTY3OA',
          status: 'accepted',
          recipientPhoneNumber: '4915112345678',
          phoneNumberId: '106540352242922',
        },
      ),
      502: { description: 'The provider cannot be reached, or did not answer in time', body: ErrorEnvelope },
    },
    errors: [409],
  },
  async ({ dependencies, principal, params, body }) => {
    const { outcome, ...sentTo } = await testCampaign(dependencies, {
      workspaceId: principal.workspaceId,
      campaignId: params.id,
      phoneNumber: body.phone_number,
      variables: body.variables,
    });
    if (outcome.kind === 'unknown') return unknownAnswer(dependencies);
    const { messageId, providerMessageId, status } = outcome;
    return sentAnswer({ messageId, providerMessageId, status, ...sentTo });
  },
);
