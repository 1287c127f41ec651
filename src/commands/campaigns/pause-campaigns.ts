/**
 * Pauses what the provider has made impossible. Called inside the transaction of the cause; the campaigns' workflows
 * learn of it by the commands that are written with it.
 */
import type { Dependencies } from '../../dependencies.ts';
import { pauseRunning } from '../../records/campaigns/lifecycle.ts';
import type { Connection } from '../../records/database/database.ts';

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

/** Returns the ids of the campaigns that were paused CHANNEL_BLOCKED. */
export async function pauseCampaignsOfChannel(
  { logger }: Logging,
  connection: Connection,
  channelId: string,
): Promise<readonly string[]> {
  const campaignIds = await pauseRunning(connection, { channelId });
  if (campaignIds.length > 0) logger.error({ channelId, campaignIds }, 'channel blocked: campaigns paused');
  return campaignIds;
}
