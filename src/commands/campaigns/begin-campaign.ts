/** The first start of a prepared campaign that is due: quota counted once, obstacles turned into a pause. */
import { within } from '../../concurrency/within.ts';
import { nextCampaignStatus, type PauseReason } from '../../domain/campaigns/campaign.ts';
import { isSendable } from '../../domain/templates/definition.ts';
import type { Dependencies } from '../../dependencies.ts';
import {
  acceptCategory,
  countBroadcast,
  lockCampaign,
  moveCampaign,
  type LockedCampaign,
} from '../../records/campaigns/lifecycle.ts';
import { slowStartSize, startSlowly } from '../../records/sending/failure-brake.ts';
import type { Connection } from '../../records/database/database.ts';
import { getChannel } from '../../records/workspaces/channels.ts';
import { patienceMs, readNumberHealth } from '../workspaces/number-health.ts';
import { offerEndingBeforeSending } from './edit-campaign.ts';

type Beginner = Pick<Dependencies, 'database' | 'logger' | 'provider' | 'secrets'>;

/** A minute: older news that the number may send nothing is asked for again. */
const recentMs = 60_000;

/**
 * Spec 4.1 rule 5. Does nothing unless the campaign is prepared and waiting to start. Returns the ms until it is due, or 0.
 * Uses Postgres' clock, because a worker's clock may be ahead.
 *
 * The hourly reading of the number's health may be out of date. One that says BLOCKED is read anew, for at most 3 s and without a
 * lock, and counts only if it is recent: a wrong pause would last until somebody notices. One that says otherwise is taken as it
 * is: if the number was blocked since, the first refusal pauses the campaign, and its recipient waits with the others.
 */
export async function beginCampaign(dependencies: Beginner, campaignId: string): Promise<number> {
  const begun = await tryToBegin(dependencies, campaignId, true);
  if (typeof begun === 'number') return begun;
  const channel = await getChannel(dependencies.database, begun.workspaceId, begun.channelId);
  await within(patienceMs, readNumberHealth(dependencies, channel));
  const asked = await tryToBegin(dependencies, campaignId, false);
  return typeof asked === 'number' ? asked : 0;
}

/** The channel whose health is to be read first, if `asksFirst`. */
type ToRead = Readonly<Record<'channelId', string> & Record<'workspaceId', number>>;

async function tryToBegin(
  { database, logger }: Beginner,
  campaignId: string,
  asksFirst: boolean,
): Promise<number | ToRead> {
  return database.transaction(async (transaction) => {
    const campaign = await lockCampaign(transaction, campaignId);
    if (campaign.preparation_status !== 'READY' || nextCampaignStatus(campaign.status, 'begin') === undefined)
      return 0;
    if (campaign.due_in_ms > 0) return campaign.due_in_ms;
    const {
      number_blocked_ms_ago: blockedMsAgo,
      channel_id: channelId,
      workspace_id: workspaceId,
    } = campaign;
    if (asksFirst && blockedMsAgo !== null && blockedMsAgo > recentMs) return { channelId, workspaceId };
    const obstacle = await findObstacle(transaction, campaign);
    if (obstacle === null && campaign.total_contacts > slowStartSize)
      await startSlowly(transaction, campaignId);
    if (obstacle === null) await acceptCategory(transaction, campaignId);
    await moveCampaign(transaction, campaign, obstacle === null ? 'begin' : 'pause', obstacle);
    logger.info(
      { campaignId, pauseReason: obstacle },
      obstacle === null ? 'campaign begins' : 'campaign paused',
    );
    return 0;
  });
}

const isNumberBlocked = ({ number_blocked_ms_ago: msAgo }: LockedCampaign): boolean =>
  msAgo !== null && msAgo <= recentMs;

async function findObstacle(transaction: Connection, campaign: LockedCampaign): Promise<PauseReason | null> {
  if (campaign.template_vanished || !isSendable(campaign.template_status)) return 'TEMPLATE_UNAVAILABLE';
  if (campaign.channel_status !== 'active' || isNumberBlocked(campaign)) return 'CHANNEL_BLOCKED';
  if ((await offerEndingBeforeSending(transaction, campaign.id, new Date())) !== undefined)
    return 'TEMPLATE_UNAVAILABLE';
  return (await countBroadcast(transaction, campaign)) ? null : 'BROADCAST_QUOTA';
}
