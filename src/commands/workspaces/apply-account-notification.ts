import type { Dependencies } from '../../dependencies.ts';
import { epochSeconds } from '../../domain/epoch-seconds.ts';
import { providerErrorRule } from '../../domain/sending/provider-error.ts';
import type { AccountItem } from '../../provider/notification-item.ts';
import type { Connection } from '../../records/database/database.ts';
import { setMessagingLimit } from '../../records/sending/messaging-limit.ts';
import { advanceBlockReport, noteAccountNotice } from '../../records/workspaces/business-accounts.ts';
import {
  blockChannelsOfAccount,
  liftEndedBlocks,
  setChannelQuality,
  unblockChannelsOfAccount,
  type NotifiedChannel,
} from '../../records/workspaces/notified-channels.ts';
import type { Consequences } from '../callbacks/status-effects.ts';
import { pauseCampaignsOfChannels, pauseRefusedChannels } from '../campaigns/change-campaign.ts';

/**
 * Records the provider's report about a business account or a number, with its messaging limit and quality. A ban, or a
 * restriction of sending that has not ended, blocks the channels and pauses their campaigns; its end lifts the block, and the
 * campaigns are started again by hand. An error that belongs to no single message pauses or slows the whole channel, or all channels of the account.
 */
export async function applyAccountNotification(
  dependencies: Pick<Dependencies, 'logger' | 'now'>,
  connection: Connection,
  { item, channel }: { readonly item: AccountItem; readonly channel: NotifiedChannel | undefined },
): Promise<Partial<Consequences>> {
  const { businessAccountId, field, event, facts, messagingLimit, quality, blockedUntil } = item;
  const { logger } = dependencies;
  const now = dependencies.now();
  let maySend = blockedUntil !== null && blockedUntil <= now ? null : item.maySend;
  const paused: string[] = [];
  logger.warn({ businessAccountId, field, event, facts }, 'the provider reported on an account');
  if (businessAccountId !== null) {
    const reportedAt = epochSeconds(item.timestamp) ?? now;
    await noteAccountNotice(connection, businessAccountId, { field, event, facts, reportedAt });
    if (messagingLimit !== undefined)
      await setMessagingLimit(connection, businessAccountId, { limit: messagingLimit, reportedAt });
    if (quality !== null) await setChannelQuality(connection, businessAccountId, { ...quality, reportedAt });
    // The provider repeats callbacks for days, in any order.
    if (item.maySend !== null && !(await advanceBlockReport(connection, businessAccountId, reportedAt)))
      maySend = null;
  }
  if (businessAccountId !== null && maySend === false) {
    const block = { businessAccountId, event, until: blockedUntil };
    const channelIds = await blockChannelsOfAccount(connection, block);
    if (channelIds.length > 0)
      logger.error({ channelIds, event, blockedUntil }, 'the provider blocked the account: channels blocked');
    paused.push(...(await pauseCampaignsOfChannels(dependencies, connection, { channelIds, event })));
  }
  if (businessAccountId !== null && maySend === true) {
    const unblocked = await unblockChannelsOfAccount(connection, businessAccountId);
    if (unblocked.length > 0)
      logger.warn({ channelIds: unblocked, event }, 'account reinstated: channels unblocked');
  }
  if (channel === undefined) return { paused };

  const errors = item.errors.map(({ code }) => ({ code, rule: providerErrorRule({ code }) }));
  const refusals = errors.flatMap(({ code, rule }) =>
    rule.kind === 'pause_channel' ? [{ channelId: channel.id, code, cause: rule.cause }] : [],
  );
  paused.push(...(await pauseRefusedChannels(dependencies, connection, refusals)));
  const silences = errors.flatMap(({ rule }) => (rule.kind === 'throttle' ? rule.silenceMs : []));
  const throttled = silences.length === 0 ? [] : [{ channelId: channel.id, holdMs: Math.max(...silences) }];
  return { paused, throttled };
}

/** Lifts restrictions whose time has passed; the campaigns that they paused are started again by hand. */
export async function liftBlocks({
  database,
  logger,
}: Pick<Dependencies, 'database' | 'logger'>): Promise<void> {
  const channelIds = await liftEndedBlocks(database);
  if (channelIds.length > 0) logger.warn({ channelIds }, 'restriction ended: channels unblocked');
}
