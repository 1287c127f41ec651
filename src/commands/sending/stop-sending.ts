/** Effects of an answer beyond its message: the channel slows down, campaigns pause, people unsubscribe. */
import type { Dependencies } from '../../dependencies.ts';
import { lockCampaign, moveCampaign } from '../../records/campaigns/lifecycle.ts';
import { slowDown } from '../../records/sending/channel-rate.ts';
import { lockWallets } from '../../records/wallet/settlement.ts';
import type { ClaimedRecipient } from '../../records/sending/claim-batch.ts';
import { isRunningEpoch, type SendingContext } from '../../records/sending/sending-context.ts';
import { applyRefusalEffects } from '../messages/refusal-effects.ts';
import type { StopReason } from './classify-answer.ts';

export interface Rejection {
  readonly code: number;
  readonly recipient: ClaimedRecipient;
  /** It pauses the template's or the channel's campaigns. */
  readonly pauses: boolean;
}

export async function applyStopReason(
  { database, logger }: Pick<Dependencies, 'database' | 'logger'>,
  context: SendingContext,
  stopReason: StopReason,
): Promise<void> {
  if (stopReason.kind === 'mistaken') await pauseForMistakes({ database, logger }, context);
  if (stopReason.kind !== 'throttled') return;
  const { channel_id: channelId } = context;
  logger.warn({ channelId }, 'the provider throttles the channel');
  await slowDown(database, { channelId, holdMs: stopReason.silenceMs });
}

/**
 * Everybody would fail alike: whoever is left waits until somebody has looked. Started again, the campaign tries as many
 * once more. Does nothing when the campaign has changed since `epoch`.
 */
async function pauseForMistakes(
  { database, logger }: Pick<Dependencies, 'database' | 'logger'>,
  { campaign_id: campaignId, epoch }: SendingContext,
): Promise<void> {
  const paused = await database.transaction(async (transaction) => {
    const campaign = await lockCampaign(transaction, campaignId);
    if (campaign.epoch !== epoch) return false;
    await moveCampaign(transaction, campaign, 'pause', 'TEMPLATE_UNAVAILABLE');
    return true;
  });
  if (paused) logger.error({ campaignId }, 'every message is malformed in the same way: campaign paused');
}

/** The lasting consequences of rejections; those that concern the whole template or channel once per code. */
export async function handleRejections(
  dependencies: Pick<Dependencies, 'database' | 'logger' | 'orchestrator' | 'now'>,
  context: SendingContext,
  rejections: readonly Rejection[],
): Promise<void> {
  const channel = { id: context.channel_id, workspaceId: context.workspace_id };
  // One of before the campaign was paused says nothing of what was mended since.
  const unchanged = rejections.length === 0 || (await isRunningEpoch(dependencies.database, context));
  for (const { code, recipient } of rejections.filter(({ pauses }) => unchanged || !pauses)) {
    const refused = {
      channel,
      template: { id: context.template_id },
      recipient,
    };
    await applyRefusalEffects(dependencies, refused, code);
  }
}

/**
 * Spec 3.1: the wallet cannot cover the send. Does nothing when the campaign has changed since `epoch`, or when there is
 * more in the wallet than the `available` that did not suffice: a recharge that is answered before the pause is not missed.
 */
export async function pauseForBalance(
  { database, logger, metrics }: Pick<Dependencies, 'database' | 'logger' | 'metrics'>,
  { campaign_id: campaignId, channel_id: channelId, epoch }: SendingContext,
  available: bigint,
): Promise<void> {
  const paused = await database.transaction(async (transaction) => {
    const campaign = await lockCampaign(transaction, campaignId);
    if (campaign.epoch !== epoch) return false;
    const [wallet] = await lockWallets(transaction, [channelId]);
    if (wallet !== undefined && wallet.balance - wallet.reserved > available) return false;
    await moveCampaign(transaction, campaign, 'pause', 'INSUFFICIENT_BALANCE');
    return true;
  });
  if (!paused) return;
  metrics.walletPauses.inc();
  logger.info({ campaignId, pauseReason: 'INSUFFICIENT_BALANCE' }, 'campaign paused');
}
