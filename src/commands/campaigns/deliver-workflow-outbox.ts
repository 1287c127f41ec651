/** Delivers the workflow outbox: messages that committed transactions have left for Temporal. */
import { withCallContext } from '../../concurrency/call-context.ts';
import type { Dependencies } from '../../dependencies.ts';
import {
  deleteOutboxMessages,
  listOutboxMessages,
  type OutboxMessage,
} from '../../records/campaigns/workflow-outbox.ts';
import type { CampaignStart } from '../../orchestrator/orchestrator.ts';
import { startPollingLoop, type Loop } from '../../concurrency/polling-loop.ts';

type OutboxDependencies = Pick<Dependencies, 'database' | 'orchestrator' | 'logger'>;

/**
 * Delivers a campaign's messages right after the commit that wrote them. Never fails the caller: false when a message could
 * not be delivered, which is then left to the workers' polling loop.
 */
export async function deliverWorkflowOutbox(
  dependencies: OutboxDependencies,
  campaignId: string,
): Promise<boolean> {
  try {
    await deliverAll(dependencies, await listOutboxMessages(dependencies.database, { campaignId }));
    return true;
  } catch (error) {
    dependencies.logger.warn({ campaignId, error: String(error) }, 'workflow outbox message delayed');
    return false;
  }
}

const campaignsAtOnce = 10;

/**
 * `deliverWorkflowOutbox` for many campaigns, ten at a time. Ends at the first failure: while Temporal is away, each further
 * call would take its whole timeout.
 */
export async function deliverWorkflowOutboxes(
  dependencies: OutboxDependencies,
  campaignIds: readonly string[],
): Promise<void> {
  const waiting = campaignIds.values();
  let isReachable = true;
  const deliverNext = async (): Promise<void> => {
    for (const campaignId of waiting) {
      if (!isReachable) return;
      if (!(await deliverWorkflowOutbox(dependencies, campaignId))) isReachable = false;
    }
  };
  await Promise.all(Array.from({ length: campaignsAtOnce }, deliverNext));
}

/** Starts the workflow of a campaign just created and deletes its outbox message. Never rejects. */
export async function startCreated(
  { database, orchestrator, logger }: OutboxDependencies,
  campaign: CampaignStart,
  outboxId: bigint,
): Promise<void> {
  try {
    await orchestrator.startCampaign(campaign);
    // A message that is not deleted is delivered again, which does nothing to a running workflow.
    deleteOutboxMessages(database, [outboxId]).catch(() => undefined);
  } catch (error) {
    logger.warn({ campaignId: campaign.id, error: String(error) }, 'workflow outbox message delayed');
  }
}

const failuresPerPoll = 3;

export interface DeliveryPoll {
  readonly delivered: number;
  /** The next poll continues after this id; 0: it begins with the oldest message. */
  readonly lastId: bigint;
  /** Set when every message failed, or when the poll ended early after `failuresPerPoll` failures: Temporal is probably away. */
  readonly failure: unknown;
}

/**
 * One poll of the workers' loop: delivers messages after `afterId` that are older than `olderThanMs`. A failed message does
 * not block the others: the poll goes on, and after `failuresPerPoll` failures the next poll continues behind them.
 */
export async function deliverOverdueMessages(
  dependencies: OutboxDependencies,
  { olderThanMs, afterId }: { readonly olderThanMs: number; readonly afterId: bigint },
): Promise<DeliveryPoll> {
  const messages = await listOutboxMessages(dependencies.database, { olderThanMs, afterId });
  const failures: unknown[] = [];
  let delivered = 0;
  for (const message of messages) {
    try {
      await deliverAll(dependencies, [message]);
      delivered += 1;
    } catch (error) {
      failures.push(error);
      if (failures.length === failuresPerPoll) return { delivered, lastId: message.id, failure: error };
    }
  }
  return { delivered, lastId: 0n, failure: delivered === 0 ? failures[0] : undefined };
}

const idleMs = 1_000;
// 2 s: a message this old was not delivered by the process that wrote it.
const overdueMs = 2_000;

/** Polling loop of a worker. Throws when a poll delivers none of the messages found, so that the loop backs off. */
export function startDeliveringOutbox(dependencies: OutboxDependencies): Loop {
  let afterId = 0n;
  return startPollingLoop({
    name: 'workflow outbox',
    logger: dependencies.logger,
    idleMs,
    work: async () => {
      const poll = await deliverOverdueMessages(dependencies, { olderThanMs: overdueMs, afterId });
      afterId = poll.lastId;
      if (poll.delivered === 0 && poll.failure !== undefined) throw poll.failure;
      return poll.delivered > 0;
    },
  });
}

async function deliverAll(
  dependencies: OutboxDependencies,
  messages: readonly OutboxMessage[],
): Promise<void> {
  for (const message of messages) {
    const { request_id: requestId } = message;
    await withCallContext(requestId === null ? {} : { requestId }, () => deliver(dependencies, message));
    await deleteOutboxMessages(dependencies.database, [message.id]);
  }
}

async function deliver({ orchestrator }: OutboxDependencies, message: OutboxMessage): Promise<void> {
  const campaign = { id: message.campaign_id, workspaceId: message.workspace_id, name: message.name };
  if (message.kind === 'start') return orchestrator.startCampaign(campaign);
  // The refresh of a campaign that changed right after its creation may overtake its start; starting is idempotent.
  if (!(await orchestrator.refreshCampaign(campaign.id))) await orchestrator.startCampaign(campaign);
}
