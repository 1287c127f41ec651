/** Delivers the workflow outbox: what committed transactions left for Temporal. */
import { withCallContext } from '../../concurrency/call-context.ts';
import type { Dependencies } from '../../dependencies.ts';
import {
  deleteOutboxMessages,
  listOutboxMessages,
  type OutboxMessage,
} from '../../records/campaigns/workflow-outbox.ts';
import type { CampaignStart } from '../../orchestrator.ts';
import { startPollingLoop, type Loop } from '../../concurrency/polling-loop.ts';

type CommandDependencies = Pick<Dependencies, 'database' | 'orchestrator' | 'logger'>;

/**
 * Right after a commit. Never fails the caller; false when Temporal did not take a command, which a loop of the workers then
 * delivers.
 */
export async function deliverWorkflowOutbox(
  dependencies: CommandDependencies,
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

/** The same for a campaign just created, whose answer does not wait for it. */
export async function startCreated(
  { database, orchestrator, logger }: CommandDependencies,
  campaign: CampaignStart,
  commandId: bigint,
): Promise<void> {
  try {
    await orchestrator.startCampaign(campaign);
    // What is not deleted is delivered once more, to a workflow that runs.
    deleteOutboxMessages(database, [commandId]).catch(() => undefined);
  } catch (error) {
    logger.warn({ campaignId: campaign.id, error: String(error) }, 'workflow outbox message delayed');
  }
}

const failuresPerPoll = 3;

export interface DeliveryPoll {
  readonly delivered: number;
  /** Where the next round goes on; 0 when this one came to the end. */
  readonly lastId: bigint;
  /** After a few refusals a round ends early: Temporal seems to be away. */
  readonly failure: unknown;
}

/**
 * One round of that loop, behind `afterId`: whatever lay longer than its own process would have taken. One that Temporal
 * refuses does not hold up the others: the next round goes on behind it.
 */
export async function deliverOverdueMessages(
  dependencies: CommandDependencies,
  { olderThanMs, afterId }: { readonly olderThanMs: number; readonly afterId: bigint },
): Promise<DeliveryPoll> {
  const commands = await listOutboxMessages(dependencies.database, { olderThanMs, afterId });
  const failures: unknown[] = [];
  let delivered = 0;
  for (const command of commands) {
    try {
      await deliverAll(dependencies, [command]);
      delivered += 1;
    } catch (error) {
      failures.push(error);
      if (failures.length === failuresPerPoll) return { delivered, lastId: command.id, failure: error };
    }
  }
  return { delivered, lastId: 0n, failure: delivered === 0 ? failures[0] : undefined };
}

const idleMs = 1_000;
// A command that its own process has not delivered by then was left behind.
const overdueMs = 2_000;

/** The loop of a worker. It fails, for its pause to grow, when a round delivers nothing of what there is. */
export function startDeliveringOutbox(dependencies: CommandDependencies): Loop {
  let afterId = 0n;
  return startPollingLoop({
    name: 'workflow outbox',
    logger: dependencies.logger,
    idleMs,
    work: async () => {
      const round = await deliverOverdueMessages(dependencies, { olderThanMs: overdueMs, afterId });
      afterId = round.lastId;
      if (round.delivered === 0 && round.failure !== undefined) throw round.failure;
      return round.delivered > 0;
    },
  });
}

async function deliverAll(
  dependencies: CommandDependencies,
  commands: readonly OutboxMessage[],
): Promise<void> {
  for (const command of commands) {
    const { request_id: requestId } = command;
    await withCallContext(requestId === null ? {} : { requestId }, () => deliver(dependencies, command));
    await deleteOutboxMessages(dependencies.database, [command.id]);
  }
}

async function deliver({ orchestrator }: CommandDependencies, command: OutboxMessage): Promise<void> {
  const campaign = { id: command.campaign_id, workspaceId: command.workspace_id, name: command.name };
  if (command.kind === 'start') return orchestrator.startCampaign(campaign);
  // A refresh may overtake the start of a campaign that was changed at once; starting is idempotent.
  if (!(await orchestrator.refreshCampaign(campaign.id))) await orchestrator.startCampaign(campaign);
}
