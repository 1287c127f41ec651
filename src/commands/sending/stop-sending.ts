/** What a refusal means beyond its message: the template's or the channel's campaigns pause, the channel slows down. */
import type { Dependencies } from '../../dependencies.ts';
import { lockCampaign, moveCampaign } from '../../records/campaign-lifecycle.ts';
import { slowDown } from '../../records/channel-rate.ts';
import type { SendingContext } from '../../records/sending-context.ts';
import { setTemplateStatus } from '../../records/template-status.ts';
import { deliverWorkflowCommands } from '../deliver-workflow-commands.ts';
import { pauseCampaignsOfChannel, pauseCampaignsOfTemplate } from '../pause-campaigns.ts';
import type { Halt } from './message-outcome.ts';

type Stopper = Pick<Dependencies, 'database' | 'logger' | 'orchestrator'>;

/** Applies a halt. An unreachable provider pauses nothing: the workflow tries again later. */
export async function applyHalt(dependencies: Stopper, context: SendingContext, halt: Halt): Promise<void> {
  switch (halt.kind) {
    case 'unreachable':
      return;
    case 'throttled':
      dependencies.logger.warn({ channelId: context.channel_id }, 'the provider throttles the channel');
      return slowDown(dependencies.database, { channelId: context.channel_id, holdMs: halt.silenceMs });
    case 'template':
      return pauseTemplate(dependencies, context, halt.action.effect);
    case 'channel':
      return pauseChannel(dependencies, context);
  }
}

async function pauseTemplate(
  dependencies: Stopper,
  context: SendingContext,
  effect: Extract<Halt, { kind: 'template' }>['action']['effect'],
): Promise<void> {
  const paused = await dependencies.database.transaction(async (transaction) => {
    if (effect === 'template_paused') await setTemplateStatus(transaction, context.template_id, 'PAUSED');
    if (effect === 'template_disabled') await setTemplateStatus(transaction, context.template_id, 'DISABLED');
    return pauseCampaignsOfTemplate(dependencies, transaction, context.template_id);
  });
  await deliverTo(dependencies, paused);
}

async function pauseChannel(dependencies: Stopper, context: SendingContext): Promise<void> {
  const paused = await dependencies.database.transaction((transaction) =>
    pauseCampaignsOfChannel(dependencies, transaction, context.channel_id),
  );
  await deliverTo(dependencies, paused);
}

async function deliverTo(dependencies: Stopper, campaignIds: readonly string[]): Promise<void> {
  for (const campaignId of campaignIds) await deliverWorkflowCommands(dependencies, campaignId);
}

/** Spec 3.1: the wallet cannot cover the send. Does nothing when the campaign has changed since `epoch`. */
export async function pauseForBalance(
  { database, logger }: Pick<Dependencies, 'database' | 'logger'>,
  { campaign_id: campaignId, epoch }: SendingContext,
): Promise<void> {
  await database.transaction(async (transaction) => {
    const campaign = await lockCampaign(transaction, campaignId);
    if (campaign.epoch !== epoch) return;
    await moveCampaign(transaction, campaign, 'pause', 'INSUFFICIENT_BALANCE');
    logger.info({ campaignId, pauseReason: 'INSUFFICIENT_BALANCE' }, 'campaign paused');
  });
}
