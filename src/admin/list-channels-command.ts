import { listChannels, listImpairedChannels } from '../records/operations/impaired-channels.ts';
import { adminCommand } from './admin-command.ts';

const mostListed = 10_000;

export const listChannelsCommand = adminCommand({
  name: 'list-channels',
  summary: 'list the channels of all workspaces, or those that cannot send as they should, and why',
  options: {
    impaired: {
      description:
        'only channels that are blocked, rejected by the provider or throttled, or whose circuit is open',
      flag: true,
    },
  },
  run: async ({ database }, { impaired }) => ({
    channels:
      impaired === undefined
        ? await listChannels(database)
        : await listImpairedChannels(database, mostListed),
  }),
});
