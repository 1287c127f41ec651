import type { Dependencies } from '../../dependencies.ts';
import { changeSubscriptions } from '../callbacks/change-subscription.ts';
import { deliverWorkflowCommands } from '../campaigns/deliver-workflow-commands.ts';
import { requestTemplateSyncs } from '../templates/request-template-sync.ts';
import type { MessageRecipient } from './send-single-message.ts';
import { applyConsequences } from '../callbacks/status-effects.ts';

/** Whose message was refused. */
export interface RefusedMessage {
  readonly channel: { readonly id: string; readonly workspaceId: number };
  readonly template: { readonly id: string };
  readonly recipient: MessageRecipient;
}

/** What a refusal in the answer means beyond its message: the same as when a status tells it later. */
export async function applyRefusalEffects(
  dependencies: Pick<Dependencies, 'database' | 'logger' | 'orchestrator' | 'now'>,
  { channel, template, recipient }: RefusedMessage,
  code: number,
): Promise<void> {
  const { paused, resync } = await dependencies.database.transaction(async (transaction) => {
    const effects = await applyConsequences(dependencies, transaction, [
      {
        code,
        channelId: channel.id,
        templateId: template.id,
        country: recipient.country,
      },
    ]);
    if (effects.optedOut.length > 0) {
      const person = { phoneNumber: recipient.to, waId: null, providerUserId: recipient.to };
      await changeSubscriptions(dependencies, transaction, [
        { workspaceId: channel.workspaceId, person, subscribed: false },
      ]);
    }
    return effects;
  });
  for (const campaignId of paused) await deliverWorkflowCommands(dependencies, campaignId);
  await requestTemplateSyncs(dependencies, resync);
}
