import { updateChannel } from '../commands/workspaces/update-channel.ts';
import { adminCommand, integerOption, switchOption, uuidOption } from './admin-command.ts';

export const updateChannelCommand = adminCommand({
  name: 'update-channel',
  summary: 'give a sending number another token or limit, unblock it, or set who answers',
  options: {
    'channel-id': { description: 'id of the channel' },
    'access-token': {
      description: "the provider's new token, stored encrypted; - reads standard input",
      optional: true,
      secret: true,
    },
    'messages-per-second': { description: "the provider's limit", optional: true },
    status: { description: 'active (lifts a block) or blocked', optional: true },
    responder: { description: 'who answers inbound messages: none, chatbot or assistant', optional: true },
    'blocked-countries': { description: 'codes like US,FR that are not sent to, or none', optional: true },
    'marketing-endpoint': {
      description: "on or off: marketing templates go by the provider's endpoint for them",
      optional: true,
    },
    'messaging-limit': {
      description: 'different people in 24 hours, over all numbers of the business account, or none',
      optional: true,
    },
  },
  needs: ['secrets'],
  run: (context, { status, responder, ...values }) => {
    const rate = values['messages-per-second'];
    const countries = values['blocked-countries'];
    const endpoint = values['marketing-endpoint'];
    const limit = values['messaging-limit'];
    return updateChannel(context, {
      channelId: uuidOption('channel-id', values['channel-id']),
      accessToken: values['access-token'],
      messagesPerSecond: rate === undefined ? undefined : integerOption('messages-per-second', rate),
      status,
      responder,
      blockedCountries: countries === 'none' ? [] : countries?.split(','),
      marketingEndpoint: endpoint === undefined ? undefined : switchOption('marketing-endpoint', endpoint),
      messagingLimit: limit === undefined ? undefined : limitOption(limit),
    });
  },
});

function limitOption(value: string): number | null {
  return value === 'none' ? null : integerOption('messaging-limit', value);
}
