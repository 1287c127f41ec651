import type { Dependencies } from '../dependencies.ts';
import type { RecipientState } from '../domain/recipient.ts';
import { countRecipients } from '../metrics.ts';
import { deliverWorkflowCommands } from './deliver-workflow-commands.ts';
import { requestTemplateSyncs } from './request-template-sync.ts';

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
  dependencies: Pick<Dependencies, 'database' | 'logger' | 'metrics' | 'orchestrator'>,
  { pausedCampaigns, resync, reached }: AfterCommit,
): Promise<void> {
  countRecipients(dependencies.metrics, reached);
  for (const campaignId of new Set(pausedCampaigns)) await deliverWorkflowCommands(dependencies, campaignId);
  await requestTemplateSyncs(dependencies, resync);
}
