/**
 * Pauses the campaigns that the provider no longer lets send. Runs in the transaction of the cause, which also writes the
 * workflow outbox messages.
 */
import type { Dependencies } from '../../dependencies.ts';
import { pauseRunning } from '../../records/campaigns/lifecycle.ts';
import type { Connection } from '../../records/database/database.ts';
import { recordRefusal, type ChannelRefusal } from '../../records/workspaces/notified-channels.ts';

type Logging = Pick<Dependencies, 'logger'>;

/** Returns the ids of the campaigns that were paused TEMPLATE_UNAVAILABLE. */
export async function pauseCampaignsOfTemplate(
  { logger }: Logging,
  connection: Connection,
  templateId: string,
): Promise<readonly string[]> {
  const campaignIds = await pauseRunning(connection, { templateId });
  if (campaignIds.length > 0)
    logger.warn({ templateId, campaignIds }, 'template unavailable: campaigns paused');
  return campaignIds;
}

/** Pauses the campaigns of a blocked channel as CHANNEL_BLOCKED; `reason` is for the log. Returns their ids. */
export async function pauseCampaignsOfChannel(
  { logger }: Logging,
  connection: Connection,
  { channelId, ...reason }: { readonly channelId: string; readonly event?: string } & Partial<ChannelRefusal>,
): Promise<readonly string[]> {
  const campaignIds = await pauseRunning(connection, { channelId });
  if (campaignIds.length > 0)
    logger.error({ channelId, ...reason, campaignIds }, 'channel blocked: campaigns paused');
  return campaignIds;
}

/** Records a refusal of the provider that concerns the whole channel, and pauses its campaigns. */
export async function pauseRefusedChannel(
  { logger }: Logging,
  connection: Connection,
  { channelId, code, cause }: ChannelRefusal & { readonly channelId: string },
): Promise<readonly string[]> {
  await recordRefusal(connection, channelId, { code, cause });
  const campaignIds = await pauseCampaignsOfChannel({ logger }, connection, { channelId, code, cause });
  if (campaignIds.length === 0) logger.warn({ channelId, code, cause }, 'the provider refuses the channel');
  return campaignIds;
}
