import type { Dependencies } from '../../dependencies.ts';
import type { RecipientState } from '../../domain/campaigns/recipient.ts';
import { countRecipients } from '../../telemetry/metrics.ts';
import { deliverWorkflowCommands } from '../campaigns/deliver-workflow-commands.ts';
import { requestTemplateSyncs } from '../templates/request-template-sync.ts';

/** What is left to do once the transaction has committed. */
export interface AfterCommit {
  readonly pausedCampaigns: readonly string[];
  /** Business accounts whose templates have to be fetched again. */
  readonly resync: readonly string[];
  /** The states to which recipients came. */
  readonly reached: readonly RecipientState[];
}

export const nothingLeft: AfterCommit = { pausedCampaigns: [], resync: [], reached: [] };

export async function finishAfterCommit(
  dependencies: Pick<Dependencies, 'database' | 'logger' | 'orchestrator'> &
    Partial<Pick<Dependencies, 'metrics'>>,
  { pausedCampaigns, resync, reached }: AfterCommit,
): Promise<void> {
  // A command of an operator has no metrics.
  if (dependencies.metrics !== undefined) countRecipients(dependencies.metrics, reached);
  for (const campaignId of new Set(pausedCampaigns)) await deliverWorkflowCommands(dependencies, campaignId);
  await requestTemplateSyncs(dependencies, resync);
}
