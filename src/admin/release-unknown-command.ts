import { releaseUnknownMessages } from '../commands/wallet/release-unknown.ts';
import { formatAmount } from '../domain/money.ts';
import { adminCommand, integerOption, uuidOption } from './admin-command.ts';

export const releaseUnknownCommand = adminCommand({
  name: 'release-unknown',
  summary: 'give back what is reserved for messages whose outcome stayed unknown',
  options: {
    'workspace-id': { description: 'id of the workspace' },
    'campaign-id': { description: 'of this campaign alone', optional: true },
    'older-than-hours': { description: 'since when nothing has been heard of them' },
  },
  run: async (context, values) => {
    const campaign = values['campaign-id'];
    const { messages, amount } = await releaseUnknownMessages(context, {
      workspaceId: integerOption('workspace-id', values['workspace-id']),
      campaignId: campaign === undefined ? undefined : uuidOption('campaign-id', campaign),
      olderThanHours: integerOption('older-than-hours', values['older-than-hours']),
    });
    return { messages, amount: formatAmount(amount) };
  },
});
