import { errorName } from '../../concurrency/polling-loop.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { RecipientState } from '../../domain/campaigns/recipient.ts';
import { countRecipients } from '../../telemetry/metrics.ts';
import type { BrakeDecisions } from '../../records/sending/failure-brake.ts';
import { expireMediaOfCampaigns } from '../../records/templates/provider-media.ts';
import { pauseBraked } from '../campaigns/change-campaign.ts';
import { deliverWorkflowOutboxes } from '../campaigns/deliver-workflow-outbox.ts';
import type { Consequences } from './status-effects.ts';

/** Work to do after the transaction has committed. */
export interface AfterCommit extends Pick<Consequences, 'paused' | 'resync'>, BrakeDecisions {
  /** New recipient states, for the metrics. */
  readonly reached: readonly RecipientState[];
  /** Codes that the table of codes does not list, one for each failure. */
  readonly unlisted: readonly number[];
  /** Campaigns whose messages failed for a file: its id is renewed by their next step. */
  readonly refusedMedia: readonly string[];
}

export const nothingLeft: AfterCommit = {
  paused: [],
  resync: [],
  reached: [],
  braked: [],
  woken: [],
  unlisted: [],
  refusedMedia: [],
};

export async function finishAfterCommit(
  dependencies: Pick<Dependencies, 'database' | 'logger' | 'orchestrator'> &
    Partial<Pick<Dependencies, 'metrics'>>,
  { paused, resync, reached, braked, woken, unlisted, refusedMedia }: AfterCommit,
): Promise<void> {
  // Undefined in admin commands, which have no metrics.
  if (dependencies.metrics !== undefined) countRecipients(dependencies.metrics, reached);
  for (const code of unlisted) dependencies.metrics?.unlistedRefusals.inc({ code });
  await pauseBraked(dependencies, braked);
  await deliverWorkflowOutboxes(dependencies, [...new Set([...paused, ...woken])]);
  // If this fails or is lost with the process, the next failure makes up for it.
  if (refusedMedia.length > 0)
    await expireMediaOfCampaigns(dependencies.database, refusedMedia).catch((error: unknown) => {
      dependencies.logger.warn({ err: error }, 'media files stay as they are');
    });
  // Not awaited: while Temporal is slow, the callbacks of all tenants would wait for it.
  void requestTemplateSyncs(dependencies, resync);
}

/** Business accounts whose sync this process is requesting: however slow Temporal is, it has one request for each. */
const requested = new Set<string>();

/**
 * Requests a sync of these business accounts' templates. Never rejects, because the hourly sync makes up for it. Stops at the
 * first failure: while Temporal is down, each further call would take its full timeout.
 */
async function requestTemplateSyncs(
  { orchestrator, logger }: Pick<Dependencies, 'orchestrator' | 'logger'>,
  businessAccountIds: Iterable<string>,
): Promise<void> {
  for (const businessAccountId of new Set(businessAccountIds)) {
    if (requested.has(businessAccountId)) continue;
    requested.add(businessAccountId);
    try {
      await orchestrator.startTemplateSync(businessAccountId);
    } catch (error) {
      logger.warn({ businessAccountId, error: errorName(error) }, 'sync of templates delayed');
      return;
    } finally {
      requested.delete(businessAccountId);
    }
  }
}
