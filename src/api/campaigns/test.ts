/** POST /api/campaigns/:id/test: one message to try the campaign out. */
import * as t from 'io-ts';
import { listOf } from '../../codecs/collections.ts';
import { idOf } from '../../codecs/scalars.ts';
import { struct } from '../../codecs/struct.ts';
import { testCampaign } from '../../commands/campaigns/test-campaign.ts';
import { endpoint } from '../frame/endpoint.ts';
import { answerWith, ErrorEnvelope } from '../frame/envelope.ts';
import { sentAnswer, SentMessage, unknownAnswer } from '../messages.ts';

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
