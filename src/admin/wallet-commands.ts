/** Admin commands that change the wallet of a channel. */
import { adjustWallet } from '../commands/wallet/adjust-wallet.ts';
import { rechargeWallet } from '../commands/wallet/recharge-wallet.ts';
import { releaseUnknownMessages } from '../commands/wallet/release-unknown.ts';
import { NotFound } from '../domain/error.ts';
import { formatAmount } from '../domain/money.ts';
import { findChannelById } from '../records/workspaces/channels.ts';
import { adminCommand, integerOption, uuidOption, type AdminCommand } from './admin-command.ts';
import type { AdminContext } from './admin-context.ts';

/** A hundred years: Postgres refuses times before its calendar begins. */
const longestHours = 876_000;

const channelId = { description: 'id of the channel' };

export const walletCommands: readonly AdminCommand[] = [
  adminCommand({
    name: 'recharge',
    summary: "add money to a channel's wallet",
    options: { 'channel-id': channelId, amount: { description: 'a positive decimal, up to six places' } },
    run: async (context, values) => {
      const place = await placeOf(context, values['channel-id']);
      return { balance: formatAmount(await rechargeWallet(context, { ...place, amount: values.amount })) };
    },
  }),
  adminCommand({
    name: 'adjust-wallet',
    summary: 'correct a balance, up or down',
    options: {
      'channel-id': channelId,
      amount: { description: 'a decimal, up to six places; negative takes money out' },
      reason: { description: 'why, for the ledger' },
    },
    run: async (context, { amount, reason, ...values }) => {
      const place = await placeOf(context, values['channel-id']);
      return { balance: formatAmount(await adjustWallet(context, { ...place, amount, reason })) };
    },
  }),
  adminCommand({
    name: 'release-unknown',
    summary: 'release the reservations of messages whose outcome stayed unknown',
    options: {
      'workspace-id': { description: 'id of the workspace' },
      'campaign-id': { description: 'only messages of this campaign', optional: true },
      'older-than-hours': { description: 'only messages without a receipt for at least this many hours' },
    },
    run: async (context, values) => {
      const campaign = values['campaign-id'];
      const { messages, amount } = await releaseUnknownMessages(context, {
        workspaceId: integerOption('workspace-id', values['workspace-id']),
        campaignId: campaign === undefined ? undefined : uuidOption('campaign-id', campaign),
        olderThanHours: integerOption('older-than-hours', values['older-than-hours'], longestHours),
      });
      return { messages, amount: formatAmount(amount) };
    },
  }),
];

async function placeOf({ database }: AdminContext, value: string) {
  const channel = await findChannelById(database, uuidOption('channel-id', value));
  if (channel === undefined) throw new NotFound('Channel');
  return { workspaceId: channel.workspaceId, channelId: channel.id };
}
