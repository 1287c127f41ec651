import type { Dependencies } from '../../dependencies.ts';
import type { ProviderError } from '../../domain/sending/provider-error.ts';
import { applyChoices, stopsMarketing } from '../callbacks/change-subscription.ts';
import { finishAfterCommit, nothingLeft } from '../callbacks/after-commit.ts';
import { applyConsequences } from '../callbacks/status-effects.ts';

export interface MessageRecipient {
  /** E.164 digits, or the provider's id of a person without a number. */
  readonly to: string;
  readonly country: string;
  /** The contact without a number. */
  readonly contactId?: string;
}

/** The refused message and its recipient. */
export interface RefusedMessage {
  readonly channel: { readonly id: string; readonly workspaceId: number };
  readonly template: { readonly id: string };
  readonly recipient: MessageRecipient;
  /** The refusal is counted in the metrics already. */
  readonly isCounted?: true;
}

/** Applies effects of a rejected send beyond its message. A `failed` status with the same code has the same effects. */
export async function applyRefusalEffects(
  dependencies: Pick<Dependencies, 'database' | 'logger' | 'orchestrator' | 'now' | 'secrets'> &
    Partial<Pick<Dependencies, 'metrics'>>,
  { channel, template, recipient, isCounted }: RefusedMessage,
  error: ProviderError,
): Promise<void> {
  const effects = await dependencies.database.transaction(async (transaction) => {
    const failed = { ...error, channelId: channel.id, templateId: template.id, country: recipient.country };
    const found = await applyConsequences(dependencies, transaction, [failed]);
    if (found.optedOut.length > 0) {
      const person = { phoneNumber: recipient.to, waId: null, providerUserId: recipient.to };
      await applyChoices(dependencies, transaction, [
        { workspaceId: channel.workspaceId, person, decision: stopsMarketing, at: null },
      ]);
    }
    return found;
  });
  await finishAfterCommit(dependencies, { ...nothingLeft, ...effects, ...(isCounted && { unlisted: [] }) });
}
