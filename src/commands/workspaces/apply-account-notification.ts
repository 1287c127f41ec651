import type { Dependencies } from '../../dependencies.ts';
import { providerErrorRule } from '../../domain/sending/provider-error.ts';
import type { AccountItem } from '../../provider/notification-item.ts';
import type { Connection } from '../../records/database/database.ts';
import {
  blockChannelsOfAccount,
  unblockChannelsOfAccount,
  type NotifiedChannel,
} from '../../records/workspaces/notified-channels.ts';
import { pauseCampaignsOfChannel } from '../campaigns/pause-campaigns.ts';

export interface AccountOutcome {
  readonly paused: readonly string[];
  /** How long the channel has to be silent, when the provider throttles it; null when it does not. */
  readonly throttledMs: number | null;
}

/**
 * What happened to a business account or to a number: a ban blocks its channels and pauses their campaigns, its end lifts
 * the block (the campaigns are started again by hand). Errors that belong to no message count for the number as a whole.
 */
export async function applyAccountNotification(
  dependencies: Pick<Dependencies, 'logger'>,
  connection: Connection,
  { item, channel }: { readonly item: AccountItem; readonly channel: NotifiedChannel | undefined },
): Promise<AccountOutcome> {
  const { businessAccountId, event, maySend } = item;
  const { logger } = dependencies;
  const paused: string[] = [];
  if (businessAccountId !== null && maySend === false) {
    for (const channelId of await blockChannelsOfAccount(connection, { businessAccountId, event })) {
      logger.error({ channelId, event }, 'the provider blocked the account: channel blocked');
      paused.push(...(await pauseCampaignsOfChannel(dependencies, connection, channelId)));
    }
  }
  if (businessAccountId !== null && maySend === true) {
    const unblocked = await unblockChannelsOfAccount(connection, businessAccountId);
    if (unblocked.length > 0)
      logger.warn({ channelIds: unblocked, event }, 'account reinstated: channels unblocked');
  }
  if (channel === undefined) return { paused, throttledMs: null };

  const rules = item.errors.map((error) => providerErrorRule({ code: error.code }));
  if (rules.some(({ kind }) => kind === 'pause_channel')) {
    paused.push(...(await pauseCampaignsOfChannel(dependencies, connection, channel.id)));
  }
  const silences = rules.map((rule) => (rule.kind === 'throttle' ? rule.silenceMs : -1));
  const throttledMs = Math.max(-1, ...silences);
  return { paused, throttledMs: throttledMs < 0 ? null : throttledMs };
}
