/** Effects of the provider's answers beyond their messages: the channel slows down, campaigns pause, contacts opt out. */
import type { Dependencies } from '../../dependencies.ts';
import type { ProviderError } from '../../domain/sending/provider-error.ts';
import { lockCampaign, moveCampaign } from '../../records/campaigns/lifecycle.ts';
import { slowDown } from '../../records/sending/channel-rate.ts';
import type { ClaimedRecipient } from '../../records/sending/claim-batch.ts';
import { isRunningEpoch, type SendingContext } from '../../records/sending/sending-context.ts';
import { applyRefusalEffects } from '../messages/refusal-effects.ts';
import type { StopReason } from './classify-answer.ts';

export interface Rejection {
  readonly error: ProviderError;
  readonly recipient: ClaimedRecipient;
  /** The effect pauses the campaigns of the template or of the channel. */
  readonly pauses: boolean;
}

/** Applies the effects of rejections. Pauses are left out if the campaign was paused or started again since the step read it. */
export async function handleRejections(
  dependencies: Pick<Dependencies, 'database' | 'logger' | 'orchestrator' | 'now' | 'secrets'>,
  context: SendingContext,
  rejections: readonly Rejection[],
): Promise<void> {
  if (rejections.length === 0) return;
  const channel = { id: context.channel_id, workspaceId: context.workspace_id };
  // A rejection from an older epoch says nothing of what was repaired since.
  const isCurrent = await isRunningEpoch(dependencies.database, context);
  for (const { error, recipient, pauses } of rejections) {
    if (pauses && !isCurrent) continue;
    await applyRefusalEffects(
      dependencies,
      { channel, template: { id: context.template_id }, recipient },
      error,
    );
  }
}

export async function handleStop(
  { database, logger }: Pick<Dependencies, 'database' | 'logger'>,
  context: SendingContext,
  reason: StopReason,
): Promise<void> {
  if (reason.kind === 'malformed') await pauseMalformed({ database, logger }, context);
  if (reason.kind !== 'throttled') return;
  const { channel_id: channelId } = context;
  logger.warn({ channelId }, 'the provider throttles the channel');
  await slowDown(database, { channelId, holdMs: reason.silenceMs });
}

/**
 * Pauses the campaign before the rest of its recipients fail in the same way. It starts again only by force, and is paused again
 * after at most a hundred more failures. Does nothing if the campaign has changed since its `epoch`.
 */
async function pauseMalformed(
  { database, logger }: Pick<Dependencies, 'database' | 'logger'>,
  { campaign_id: campaignId, epoch }: SendingContext,
): Promise<void> {
  const paused = await database.transaction(async (transaction) => {
    const campaign = await lockCampaign(transaction, campaignId);
    if (campaign.epoch !== epoch) return false;
    await moveCampaign(transaction, campaign, 'pause', 'MESSAGE_REJECTED');
    return true;
  });
  if (paused) logger.error({ campaignId }, 'every message is malformed in the same way: campaign paused');
}
