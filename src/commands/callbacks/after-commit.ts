import type { Dependencies } from '../../dependencies.ts';
import type { RecipientState } from '../../domain/campaigns/recipient.ts';
import { countRecipients } from '../../telemetry/metrics.ts';
import { deliverWorkflowOutboxes } from '../campaigns/deliver-workflow-outbox.ts';
import { requestTemplateSyncs } from '../templates/request-template-sync.ts';
import type { Consequences } from './status-effects.ts';

/** Work to do after the transaction has committed. */
export interface AfterCommit extends Pick<Consequences, 'paused' | 'resync'> {
  /** New states of recipients, for the metrics. */
  readonly reached: readonly RecipientState[];
}

export const nothingLeft: AfterCommit = { paused: [], resync: [], reached: [] };

export async function finishAfterCommit(
  dependencies: Pick<Dependencies, 'database' | 'logger' | 'orchestrator'> &
    Partial<Pick<Dependencies, 'metrics'>>,
  { paused, resync, reached }: AfterCommit,
): Promise<void> {
  // Undefined in admin commands, which have no metrics.
  if (dependencies.metrics !== undefined) countRecipients(dependencies.metrics, reached);
  await deliverWorkflowOutboxes(dependencies, [...new Set(paused)]);
  await requestTemplateSyncs(dependencies, resync);
}
